import type { ClientBase } from "pg";
import type { GraphQLNamedType, GraphQLSchema } from "graphql";
import { getNamedType, isEnumType, isInputObjectType, isObjectType } from "graphql";

/** Somebody who uses a field. */
export interface FieldUser {
  /** The name of the credential. */
  name: string;
  /** Type.field, or Type.field(argument:). */
  field: string;
  /** The last day, as YYYY-MM-DD. */
  lastUsedOn: string;
}

/** Days that are looked back on. */
const spanDays = 90;

/** Who has used which fields of a version lately, as the service has noted it. */
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

/** Clients that a change at a path concerns, each once with the last day: they used the field, or one that leads there. */
export function usersAt(users: readonly FieldUser[], path: string, schema: GraphQLSchema): FieldUser[] {
  const concerned = fieldsAt(path, schema);
  const found = new Map<string, FieldUser>();
  for (const user of users) if (concerned(user.field) && !found.has(user.name)) found.set(user.name, user);
  return [...found.values()];
}

function fieldsAt(path: string, schema: GraphQLSchema): (field: string) => boolean {
  const [typeName = "", fieldName, argument] = path.split(".");
  const type = schema.getType(typeName);
  if (isInputObjectType(type) || isEnumType(type)) {
    const leading = fieldsWith(type, schema);
    return (field) => leading.has(field);
  }
  if (fieldName === undefined) return (field) => field.startsWith(`${typeName}.`);
  const whole = `${typeName}.${fieldName}`;
  // Without an argument that is required from now on, every use of the field breaks
  const isKnown =
    isObjectType(type) && type.getFields()[fieldName]?.args.some(({ name }) => name === argument);
  return (field) => field === (argument === undefined || !isKnown ? whole : `${whole}(${argument}:)`);
}

/** Fields that take or answer a type, through other inputs too. */
function fieldsWith(wanted: GraphQLNamedType, schema: GraphQLSchema): ReadonlySet<string> {
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
