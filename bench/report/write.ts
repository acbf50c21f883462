export async function writeReport(_report: unknown): Promise<void> {}
