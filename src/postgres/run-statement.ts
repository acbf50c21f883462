/** The call of the function that runs mutations, and the statement that is only that. */
export const runCall = "mutation.run($1, $2, $3, $4, $5, $6, $7)::text";
export const runStatement = { text: `select ${runCall} as result`, name: "mutation.run as text" };
