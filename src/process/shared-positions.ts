import { chown, mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Identity } from "../database/cluster/postgres-user.ts";
import { makePositionsFile } from "../database/replicas/positions.ts";
import type { PositionsFile } from "../database/replicas/positions.ts";

/** The file in which the processes keep the positions of what clients have written. */
export class SharedPositions {
  readonly #folder: string;
  readonly #columns: number;

  private constructor(folder: string, columns: number) {
    this.#folder = folder;
    this.#columns = columns;
  }

  static async make(count: number, identity: Identity | null): Promise<SharedPositions> {
    const positions = new SharedPositions(await mkdtemp(join(tmpdir(), "positions-")), 2 * count);
    await makePositionsFile(positions.#path, positions.#columns);
    if (identity)
      for (const path of [positions.#folder, positions.#path]) await chown(path, identity.uid, identity.gid);
    return positions;
  }

  get #path(): string {
    return join(this.#folder, "positions");
  }

  /** For a process that begins in a place, with one of its two columns. */
  of(place: number, side: 0 | 1): PositionsFile {
    return { path: this.#path, column: 2 * place + side, columns: this.#columns };
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
    // Left empty where only root may delete it
    await rmdir(this.#folder).catch(() => {});
  }
}
