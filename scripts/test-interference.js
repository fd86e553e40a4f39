// Interference of known kinds and strengths in simulated noise: detection rates, losses of clean data, and whether the
// sky keeps its flux, as tables beside theory. Each part is a file of scripts/interference/ and a line below; --
// voltages runs one, and -- voltages radar drifting one kind or two of it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run as visibilities } from './interference/visibilities.js';
import { run as voltages } from './interference/voltages.js';

/**
 * Each prints its table and returns its failures.
 * @type {Record<string, (folder: string, kinds: string[]) => Promise<string[]>>}
 */
const parts = { voltages, visibilities };

const asked = process.argv.slice(2).filter((word) => !word.startsWith('-'));
/** @type {string[]} */
const failures = [];
for (const [part, run] of Object.entries(parts)) {
  if (asked.length > 0 && !asked.includes(part)) continue;
  const kinds = asked.filter((word) => !(word in parts));
  const folder = mkdtempSync(join(tmpdir(), `corella-interference-${part}-`));
  try {
    for (const failure of await run(folder, kinds)) failures.push(`${part}: ${failure}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
for (const failure of failures) console.error(`✗ ${failure}`);
if (failures.length > 0) process.exit(1);
console.log('✓ interference');
