// Interference of known kinds and strengths in noise made here: what is found, what noise loses, and whether the sky keeps
// its flux, as tables beside theory. Each part is a file of scripts/interference/; -- voltages runs one of them.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const parts = ['voltages', 'visibilities'];
const asked = process.argv.slice(2).filter((word) => !word.startsWith('-'));
/** @type {string[]} */
const failures = [];
for (const part of parts) {
  const file = new URL(`./interference/${part}.js`, import.meta.url);
  if ((asked.length > 0 && !asked.includes(part)) || !existsSync(file)) continue;
  const folder = mkdtempSync(join(tmpdir(), `corella-interference-${part}-`));
  try {
    const { run } = /** @type {{ run: (folder: string) => Promise<string[]> }} */ (await import(file.href));
    for (const failure of await run(folder)) failures.push(`${part}: ${failure}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
for (const failure of failures) console.error(`✗ ${failure}`);
if (failures.length > 0) process.exit(1);
console.log('✓ interference');
