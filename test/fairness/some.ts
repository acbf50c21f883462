// The attacks that have been noticed most often, one of each kind, as the last part of `npm test`. All of them are played
// each night, and by `npm run test:fairness`.
process.env.FAIRNESS_ONLY ??= [
  "documents",
  "filters",
  "aggregates",
  "payload queries",
  "unread answers",
  "many connections",
  "large bodies",
  "uploads",
].join();
await import("./fairness.ts");
export {};
