import type { PgResource, PgSelectQueryBuilder } from "postgraphile/@dataplan/pg";
import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { FieldArg, Step } from "postgraphile/grafast";
import { lambda } from "postgraphile/grafast";
import { GraphQLString } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { buildSearchCondition, readSearch } from "../src/reads/search-words.ts";
import type { PageOfRows } from "./lib/list-page.ts";
import { tagText, splitWords } from "./lib/tags.ts";
import { fieldNameOf, findSearchFunction } from "./lib/views.ts";

const disjunction = new Intl.ListFormat("en", { type: "disjunction" });

/** Describes the search of a view, from its tag. */
function describeSearch(build: GraphileBuild.Build, resource: PgResource): string {
  const codec = resource.codec;
  const [columns] = tagText(codec, "search")!.split(/\s+in\s+/);
  const names = splitWords(columns!);
  const relations = Object.values(build.pgRelations[codec.name] ?? {});
  const found = names.map((name) => {
    const relation = relations.find(
      ({ isReferencee, localAttributes }) => !isReferencee && localAttributes.join() === name,
    );
    return { name, target: relation?.remoteResource as PgResource | undefined };
  });
  const own = found.flatMap(({ name, target }) => (target ? [] : [`\`${fieldNameOf(build, codec, name)}\``]));
  const others = found.flatMap(({ target }) =>
    target
      ? [` Also finds entries whose ${build.inflection.tableType(target.codec)} matches, if you may read it.`]
      : [],
  );
  return (
    `Finds entries that contain each of these words, regardless of case, in ${disjunction.format(own)}.${others.join("")} ` +
    "At most six words and 100 characters; one word must have three letters or digits. " +
    "A search with more than 10,000 matches is refused."
  );
}

/** Adds the `search` argument to root lists whose view has the tag `@search`. src/reads/search-words.ts defines its meaning. */
export const SearchPlugin: GraphileConfig.Plugin = {
  name: "SearchPlugin",
  description: "Adds `search` to root lists, driven by the tag @search",
  schema: {
    hooks: {
      GraphQLObjectType_fields_field_args(args, build, { Self, scope }) {
        const { fieldName, isRootQuery, isPgFieldConnection, pgFieldResource, readFunction } = scope;
        const resource = pgFieldResource as PgResource | undefined;
        const search = isRootQuery && !readFunction && resource ? findSearchFunction(resource) : undefined;
        if (!isPgFieldConnection || !search) return args;
        return build.extend(
          args,
          {
            search: {
              description: describeSearch(build, resource!),
              type: GraphQLString,
              applyPlan(_$parent: Step, $page: PageOfRows, argument: FieldArg) {
                $page.getSubplan().apply(lambda(argument.getRaw(), findRows(search)));
              },
            },
          },
          `Adding the search argument to ${Self.name}.${fieldName}`,
        );
      },
    },
  },
};

const patternsCodec = listOfCodec(TYPES.text);

const findRows = (search: SQL) => (text: string | null | undefined) => {
  const keepAll = () => {};
  if (text == null) return keepAll;
  const patterns = patternsCodec.toPg(readSearch(text));
  return (rows: PgSelectQueryBuilder) =>
    rows.where(buildSearchCondition(search, rows.alias, sql`${sql.value(patterns)}::text[]`));
};
