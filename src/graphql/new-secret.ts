/**
 * A secret that a mutation stores and shows once. The service makes it, so that the database never sees it in plain
 * text.
 */
export interface NewSecret {
  /** Id of the row that stores it. */
  id: string;
  plain: string;
  /** The stored form: encrypted if there is a key. */
  stored: string;
}
