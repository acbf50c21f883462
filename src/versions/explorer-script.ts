/** Where a version tells its explorer that it has changed. */
export const changesPathOf = (explorerPath: string): string => `${explorerPath}/changes`;

/**
 * Has the explorer read the schema again at each change, and when the service is back. The explorer's own way misses
 * changes until it is drawn again.
 */
export const explorerScript = (explorerPath: string): string => `<script>
  const changes = new EventSource(${JSON.stringify(changesPathOf(explorerPath))});
  let isOpened = false;
  const readAgain = () => document.querySelector("[aria-label^='Re-fetch GraphQL schema']")?.click();
  changes.addEventListener("change", readAgain);
  changes.addEventListener("open", () => (isOpened ? readAgain() : (isOpened = true)));
</script>`;
