// Some of the attacks that have been noticed most often, one of each kind, as the last part of `npm test`: one half of them on one
// day, the other on the next. All attacks are played each night, and by `npm run test:fairness`.
const noticedMost = [
  ["documents", "aggregates", "unread answers", "large bodies"],
  ["filters", "payload queries", "many connections", "uploads"],
];
const today = Math.floor(Date.now() / 86_400_000);
process.env.FAIRNESS_ONLY ??= noticedMost[today % noticedMost.length]!.join();
await import("./fairness.ts");
export {};
