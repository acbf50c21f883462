import type { GraphQLSchema } from "postgraphile/graphql";
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
} from "postgraphile/graphql";

/** Everything in a schema that can have a description, by coordinate, for example `Query.product(id:)`. */
export function describedThings(schema: GraphQLSchema): Map<string, string | null | undefined> {
  const found = new Map<string, string | null | undefined>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    found.set(type.name, type.description);
    if (isEnumType(type)) {
      for (const value of type.getValues()) found.set(`${type.name}.${value.name}`, value.description);
    }
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields()))
        found.set(`${type.name}.${field.name}`, field.description);
    }
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        found.set(`${type.name}.${field.name}`, field.description);
        for (const argument of field.args) {
          found.set(`${type.name}.${field.name}(${argument.name}:)`, argument.description);
        }
      }
    }
  }
  for (const directive of schema.getDirectives()) {
    if (isSpecifiedDirective(directive)) continue;
    found.set(`@${directive.name}`, directive.description);
    for (const argument of directive.args)
      found.set(`@${directive.name}(${argument.name}:)`, argument.description);
  }
  return found;
}
