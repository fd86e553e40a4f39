// Makes src/sky/earth/data/earth-orientation.csv from the IERS's finals2000A.all: every third day, which is within 0.2
// ms of UT1 and 1.1 mas of the pole on the days between.
//   node scripts/earth-orientation.js finals2000A.all
import { readFileSync, writeFileSync } from 'node:fs';
import { formatInstant, instant } from '../dist/core/instant.js';
import { taiMinusUtcS } from '../dist/core/leap-seconds.js';
import { parseEarthOrientation } from '../dist/sky/earth/orientation-file.js';
import { unixOfMjd } from '../dist/sky/earth/orientation-table.js';

const STEP_DAYS = 3;
const [path] = process.argv.slice(2);
const table = parseEarthOrientation(readFileSync(path, 'latin1'), path);
/** @param {number} mjd */
const day = (mjd) => formatInstant(instant(unixOfMjd(mjd)), 0).slice(0, 10);
const rows = [];
for (let k = 0; k < table.rows; k += STEP_DAYS) {
  const mjd = table.firstMjd + k;
  const [x, y, ut1MinusTaiS] = table.values.subarray(3 * k);
  const ut1MinusUtcS = ut1MinusTaiS + taiMinusUtcS(unixOfMjd(mjd));
  rows.push([x * 1e3, y * 1e3, ut1MinusUtcS * 1e5].map(Math.round).join(','));
}
const lines = [
  `# The Earth's orientation from ${day(table.firstMjd)} to ${day(table.firstMjd + STEP_DAYS * (rows.length - 1))}:`,
  '# IERS Rapid Service/Prediction Centre, finals2000A (Bulletin A), at 0h UTC.',
  `# origin: finals2000A of the IERS (measured to ${day(table.lastMeasuredMjd)})`,
  `# first MJD: ${table.firstMjd}`,
  `# step in days: ${STEP_DAYS}`,
  `# last measured MJD: ${table.lastMeasuredMjd}`,
  'poleXMas,poleYMas,ut1MinusUtc10us',
  ...rows,
];
const target = new URL('../src/sky/earth/data/earth-orientation.csv', import.meta.url);
writeFileSync(target, `${lines.join('\n')}\n`);
console.log(`${rows.length} rows, ${day(table.firstMjd)} on; measured to ${day(table.lastMeasuredMjd)}`);
