/** Measurement Sets like those of other programs: casacore's taql makes them from ours. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { header, integration } from '../visibilities/uvh5/testing.js';
import { isCasacoreBuilt } from '../visibilities/ms/library.js';
import { writeVisibilities } from './visibility-files.js';

/** Why no sets are written on this machine. */
export const noSets = !isCasacoreBuilt() && 'node scripts/build-casacore.js has not been run here';

/** Why there are none on this machine. */
export const noAlteredSets =
  noSets !== false
    ? noSets
    : spawnSync('taql', ['--version']).error
      ? 'there is no taql (Debian: casacore-tools)'
      : false;

export const CORRECTED = [
  'alter table SET add column CORRECTED_DATA C4 [ndim=2]',
  'update SET set CORRECTED_DATA=2*DATA',
];
/** The second of two times has another field, 0.1 rad away in both angles. */
export const SECOND_FIELD = [
  'insert into SET::FIELD select from SET::FIELD',
  "update SET::FIELD set NAME='other', PHASE_DIR=PHASE_DIR+0.1 where rownr()=1",
  'update SET set FIELD_ID=1 where rownr()>=6',
];

/** Two times of three stations, six rows each; `changes` call the set SET. */
export async function alteredSet(folder: string, name: string, changes: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeVisibilities(path, header, [integration(0), integration(1)]);
  for (const line of changes)
    execFileSync('taql', [line.replaceAll('SET', name)], { cwd: folder, stdio: 'ignore' });
  return path;
}
