import { openSample, gid } from "./support.ts";
const s = await openSample();
const show = async (q: string, o: any = {}) => {
  const r = await s.run(q, o);
  console.log(q.slice(0, 150), o.variables ? JSON.stringify(o.variables) : "");
  console.log(
    "   =>",
    JSON.stringify(r.data)?.slice(0, 1500),
    r.errors.length ? JSON.stringify(r.errors) : "",
    r.statements.length,
  );
  if (o.sql) console.log(r.statements.join("\n---\n"));
};
try {
  await show(
    `{ products(first: 2) { edges { cursor node { id parentId productNumber weight price { currencyId net gross linked } purchasePrices { net } attributes createdAt updatedAt returnOrderId tags(first:1){edges{node{id name}} pageInfo{hasNextPage hasPreviousPage endCursor}} parent {id} batches(first:1){edges{node{state product{id}}}} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
    { sql: true },
  );
  const p = await s.run(`{ products(first: 3) { edges { cursor } } }`);
  const c = p.data.products.edges.map((e: any) => e.cursor);
  await show(
    `query ($a: String, $f: Int) { products(first: $f, after: $a) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
    { variables: { a: c[2], f: 2 } },
  );
  await show(
    `query ($a: String, $f: Int) { products(first: $f, after: $a) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
    { variables: { a: null, f: 0 }, sql: true },
  );
  await show(
    `query ($a: String, $f: Int) { products(first: $f, after: $a) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
    { variables: { a: c[0], f: 0 } },
  );
  await show(
    `query { products(first: 0) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
  );
  await show(`query { products(first: -1) { edges { node { id } } } }`);
  await show(`query { products(first: 251) { edges { node { id } } } }`);
  await show(`query { products(first: null) { edges { node { id } } } }`);
  await show(`query { products(after: "abc") { edges { node { id } } } }`);
  await show(`query { tags(after: "${c[0]}") { edges { node { id } } } }`);
  await show(`query { products { pageInfo { hasNextPage } } }`);
  for (const id of [
    gid("Product", 1),
    gid("Product", 99),
    gid("ReturnOrder", 1),
    gid("Batch", 1),
    "garbage",
    "gid://service/Product/123",
  ]) {
    await show(`query ($id: ID!) { node(id: $id) { __typename } }`, { variables: { id } });
    await show(`query ($id: ID!) { node(id: $id) { id } }`, { variables: { id } });
    await show(`query ($id: ID!) { product(id: $id) { __typename } }`, { variables: { id } });
    await show(`query ($id: ID!) { product(id: $id) { id  name } }`, { variables: { id } });
  }
  await show(`query ($id: ID!) { node(id: $id) { __typename } }`, {
    variables: { id: gid("Product", 1) },
    scopes: [],
  });
  await show(`query ($id: ID!) { node(id: $id) { id } }`, {
    variables: { id: gid("Product", 1) },
    scopes: [],
  });
  await show(`query ($id: ID!) { product(id: $id) { __typename } }`, {
    variables: { id: gid("Product", 1) },
    scopes: [],
  });
} finally {
  await s.close();
}
