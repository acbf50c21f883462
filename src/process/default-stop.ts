/** Default time for a stop, in milliseconds. In a file of its own: who starts processes that serve doesn't load what these do. */
export const defaultStopMs = 9_000;
