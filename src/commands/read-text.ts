import { readFile } from "node:fs/promises";
import { UserError } from "../errors/user-error.ts";
import { decodeBody, UnreadableText } from "../lib/charset.ts";

/** The text of a file in UTF-8. @throws {UserError} when it can't be read, or is in another charset */
export async function readText(file: string): Promise<string> {
  try {
    return decodeBody(await readFile(file));
  } catch (error) {
    if (error instanceof UnreadableText)
      throw new UserError(`${file} is not in UTF-8. Save it in UTF-8.`, { cause: error });
    throw new UserError(`${file} can't be read: ${(error as Error).message}`, { cause: error });
  }
}
