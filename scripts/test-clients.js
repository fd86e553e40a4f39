// Compatibility of files with other software, in both directions: npm run test:clients [-- --debian]. With --debian
// only software in Debian's packages; else checkers in the folder named by CORELLA_CLIENTS, real files
// (CORELLA_TEST_DATA) against baseband and pyuvdata (PYTHONPATH), rephasing against pyuvdata's. Missing software is
// skipped and reported; the table of docs/formats.md is written if all of it is installed, and must contain what agreed
// in this run.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingFromTable, writeTable } from './clients/table.js';

const { values } = parseArgs({ options: { debian: { type: 'boolean', default: false } } });
const here = new URL('.', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'corella-clients-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
const results = join(folder, 'results.jsonl');
writeFileSync(results, '');
const steps = values.debian
  ? ['clients/debian.js', 'clients/shapes.js', 'clients/orbits.js', 'clients/gnuradio.js']
  : [
      'clients/debian.js',
      'clients/shapes.js',
      'clients/orbits.js',
      'clients/gnuradio.js',
      'clients/checkers.js',
      'test-real-files.js',
      'test-rephasing.js',
      'test-uvcalibrate.js',
    ];
let failed = 0;
for (const step of steps) {
  console.log(`== ${step}`);
  const ran = spawnSync(process.execPath, [join(here, step)], {
    stdio: 'inherit',
    env: { ...process.env, CORELLA_CLIENT_RESULTS: results },
  });
  if (ran.status !== 0) failed++;
}
const page = join(here, '../docs/formats.md');
if (failed === 0 && !values.debian) writeTable(results, page);
for (const one of missingFromTable(results, page)) {
  failed++;
  console.log(`FAIL  the table of docs/formats.md lacks ${one}: run npm run test:clients with all peers`);
}
process.exit(failed === 0 ? 0 : 1);
