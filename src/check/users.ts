import type { ClientBase } from "pg";
import type { GraphQLNamedType, GraphQLSchema } from "graphql";
import { getNamedType, isEnumType, isInputObjectType, isObjectType } from "graphql";

/** A credential's use of a field. */
export interface FieldUser {
  /** The name of the credential. */
  name: string;
  /** Type.field, or Type.field(argument:). */
  field: string;
  /** The last day, as YYYY-MM-DD. */
  lastUsedOn: string;
}

/** The number of days to look back. */
const spanDays = 90;

/** Reads which credentials recently used which fields of a version. */
export async function readUsers(client: ClientBase, version: string): Promise<FieldUser[]> {
  const { rows } = await client.query<FieldUser>(
    `select c.name, u.field, u.last_used_on::text as "lastUsedOn"
     from auth.field_use u join auth.credential c on c.id = u.credential_id
     where u.version = $1 and u.last_used_on > current_date - $2::integer
     order by u.last_used_on desc, c.name`,
    [version, spanDays],
  );
  return rows;
}

/** Lists the clients that a change at a path affects, each once, with the last day of use. */
export function findAffectedUsers(
  users: readonly FieldUser[],
  path: string,
  schema: GraphQLSchema,
): FieldUser[] {
  const concerned = matchFieldsAt(path, schema);
  const found = new Map<string, FieldUser>();
  for (const user of users) if (concerned(user.field) && !found.has(user.name)) found.set(user.name, user);
  return [...found.values()];
}

function matchFieldsAt(path: string, schema: GraphQLSchema): (field: string) => boolean {
  const [typeName = "", fieldName, argument] = path.split(".");
  const type = schema.getType(typeName);
  if (isInputObjectType(type) || isEnumType(type)) {
    const leading = listFieldsUsing(type, schema);
    return (field) => leading.has(field);
  }
  if (fieldName === undefined) return (field) => field.startsWith(`${typeName}.`);
  const whole = `${typeName}.${fieldName}`;
  // A new required argument breaks every use of the field
  const isKnown =
    isObjectType(type) && type.getFields()[fieldName]?.args.some(({ name }) => name === argument);
  return (field) => field === (argument === undefined || !isKnown ? whole : `${whole}(${argument}:)`);
}

/** Lists the fields that return a type or take it as an argument, including nested inputs. */
function listFieldsUsing(wanted: GraphQLNamedType, schema: GraphQLSchema): ReadonlySet<string> {
  const holds = (type: GraphQLNamedType, seen = new Set<GraphQLNamedType>()): boolean => {
    if (type === wanted) return true;
    if (!isInputObjectType(type) || seen.has(type)) return false;
    seen.add(type);
    return Object.values(type.getFields()).some((field) => holds(getNamedType(field.type), seen));
  };
  const found = new Set<string>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const name = `${type.name}.${field.name}`;
      if (getNamedType(field.type) === wanted) found.add(name);
      for (const { name: argument, type: given } of field.args)
        if (holds(getNamedType(given))) found.add(`${name}(${argument}:)`);
    }
  }
  return found;
}
