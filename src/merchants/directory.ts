import { readdir, readFile, rename, rm, stat, writeFile, chown } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEnv } from "node:util";
import type { Logger } from "pino";
import { UserError } from "../errors/user-error.ts";
import { printMerchant, readMerchant, requireName } from "./merchant.ts";
import type { Merchant } from "./merchant.ts";

/** Milliseconds between two checks of the folder. */
const lookEveryMs = 1_000;
const suffix = ".env";

/** The state of a file when it was read. */
interface FileState {
  /** A value that differs after each change of the file. */
  mark: string;
  merchant: Merchant;
}

/**
 * The directory of merchants: a folder with a file for each, in the form of `.env`. Each process notices a change within a
 * second. If a file can't be read, its previous content stays in use.
 */
export class Directory {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #onChange: (name: string) => void;
  readonly #closing = new AbortController();
  #files = new Map<string, FileState>();
  #byHost = new Map<string, Merchant>();
  /** The last logged error of each file, which is logged once. */
  readonly #complaints = new Map<string, string>();
  #watching: Promise<void> = Promise.resolve();

  /** @param onChange called with the name of a merchant that is new, changed or removed */
  constructor(folder: string, logger: Logger, onChange: (name: string) => void = () => {}) {
    this.#folder = folder;
    this.#logger = logger;
    this.#onChange = onChange;
  }

  /**
   * Reads all files, and then checks them each second.
   *
   * @throws {UserError} when there is no such folder
   */
  async open(): Promise<void> {
    await this.reload();
    this.#watching = this.#watch();
  }

  get all(): Merchant[] {
    return [...this.#files.values()].map(({ merchant }) => merchant);
  }

  /** Returns the merchant with this name. */
  findByName(name: string): Merchant | undefined {
    return this.#files.get(name)?.merchant;
  }

  /** Returns the merchant that has a host name. */
  findByHost(host: string): Merchant | undefined {
    return this.#byHost.get(host);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watching;
  }

  /** Reads changed files. @throws {UserError} when the folder can't be read */
  async reload(): Promise<void> {
    const names = await readFolder(this.#folder);
    const found = await Promise.all(
      names.map(async (name) => [name, await this.#read(name, this.#files.get(name))] as const),
    );
    const before = this.#files;
    this.#files = new Map(found.flatMap(([name, read]) => (read ? [[name, read]] : [])));
    const changed = [...new Set([...before.keys(), ...this.#files.keys()])].filter(
      (name) => before.get(name) !== this.#files.get(name),
    );
    if (changed.length === 0) return;
    this.#findHosts();
    for (const name of changed) this.#onChange(name);
  }

  async #read(name: string, before: FileState | undefined): Promise<FileState | null> {
    const path = join(this.#folder, name + suffix);
    try {
      const { mtimeNs, ino, size } = await stat(path, { bigint: true });
      const mark = `${mtimeNs} ${ino} ${size}`;
      if (before?.mark === mark) return before;
      const merchant = readMerchant(name, parseEnv(await readFile(path, "utf8")));
      this.#complaints.delete(name);
      return { mark, merchant };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      this.#logOnce(name, (error as Error).message);
      return before ?? null;
    }
  }

  /** Assigns each host name to one merchant. If several claim it, the first by name gets it, so that all processes agree. */
  #findHosts(): void {
    this.#byHost = new Map();
    for (const merchant of this.all.sort((a, b) => (a.name < b.name ? -1 : 1)))
      for (const host of merchant.hosts) {
        const owner = this.#byHost.get(host);
        if (owner) this.#logOnce(merchant.name, `Its host ${host} already belongs to ${owner.name}.`);
        else this.#byHost.set(host, merchant);
      }
  }

  #logOnce(name: string, message: string): void {
    if (this.#complaints.get(name) === message) return;
    this.#complaints.set(name, message);
    this.#logger.error(
      { merchant: name, message },
      "the file of a merchant is invalid; its previous content stays in use",
    );
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(lookEveryMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      await this.reload().catch((error: Error) => this.#logOnce("", error.message));
    }
  }
}

async function readFolder(folder: string): Promise<string[]> {
  try {
    const files = await readdir(folder);
    return files
      .filter((file) => file.endsWith(suffix) && !file.startsWith("."))
      .map((file) => file.slice(0, -suffix.length));
  } catch (cause) {
    throw new UserError(
      `The directory of merchants can't be read: ${(cause as Error).message}. Check the setting MERCHANTS.`,
      { cause },
    );
  }
}

/** Writes a merchant's file atomically, readable by its owner only. */
export async function storeMerchant(folder: string, merchant: Merchant): Promise<void> {
  readMerchant(merchant.name, parseEnv(printMerchant(merchant)));
  const path = join(folder, merchant.name + suffix);
  const next = join(folder, `.${merchant.name}.${process.pid}`);
  await writeFile(next, printMerchant(merchant), { mode: 0o600 });
  // The user who serves may not be root
  const { uid, gid } = await stat(folder);
  if (process.getuid?.() === 0) await chown(next, uid, gid);
  await rename(next, path);
}

/** Removes a merchant's file. */
export async function forgetMerchant(folder: string, name: string): Promise<void> {
  requireName(name);
  await rm(join(folder, name + suffix));
}

/** A merchant's file that can't be read. */
export interface InvalidFile {
  name: string;
  /** The reason, in a sentence. */
  fault: string;
}

/**
 * Returns all merchants by name, for commands, and the invalid files, which don't keep commands from the other merchants.
 *
 * @throws {UserError} when the folder can't be read
 */
export async function readDirectory(
  folder: string,
): Promise<{ merchants: Merchant[]; wrong: InvalidFile[] }> {
  const merchants: Merchant[] = [];
  const wrong: InvalidFile[] = [];
  for (const name of (await readFolder(folder)).sort()) {
    try {
      merchants.push(readMerchant(name, parseEnv(await readFile(join(folder, name + suffix), "utf8"))));
    } catch (error) {
      wrong.push({ name, fault: (error as Error).message });
    }
  }
  return { merchants, wrong };
}
