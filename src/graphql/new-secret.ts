/** A secret that a mutation is to keep, and to show once. Made here, so that the database need never see it. */
export interface NewSecret {
  /** Of the row that keeps it. */
  id: string;
  plain: string;
  /** What the database keeps: encrypted, where keys are given for that. */
  stored: string;
}
