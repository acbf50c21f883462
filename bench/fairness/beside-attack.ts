import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Target } from "./attack.ts";

/**
 * Runs a function during an attack, which runs in its own process.
 *
 * @param name of the attack
 * @returns the function's result, and the attacker's responses by kind
 */
export async function duringAttack<T>(
  name: string,
  target: Target,
  work: () => Promise<T>,
): Promise<{ done: T; answers: Record<string, number> }> {
  const told = JSON.stringify({ name, target });
  const attacker = fork(fileURLToPath(new URL("attacker.ts", import.meta.url)), [told]);
  const ended = once(attacker, "exit");
  const isLost = ended.then(() => Promise.reject(new Error(`The attacker “${name}” has ended`)));
  isLost.catch(() => {});
  const message = async () => ((await Promise.race([once(attacker, "message"), isLost])) as unknown[])[0];
  try {
    await message();
    const done = await Promise.race([work(), isLost]);
    const counted = message();
    attacker.send("end");
    return { done, answers: (await counted) as Record<string, number> };
  } finally {
    attacker.kill("SIGKILL");
    await ended;
  }
}
