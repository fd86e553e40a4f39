/** What corella recover does, loaded when it runs. */
import { parse } from 'node:path';
import { formatBytes } from '../../core/units.js';
import { recover, type Recovered } from '../../formats/index.js';
import { openTerminal } from '../report/terminal.js';
import type { RecoverOptions } from '../recover.js';

export async function run(path: string, { remove, overwrite, ...options }: RecoverOptions): Promise<void> {
  const terminal = openTerminal(options);
  const done = await recover(path, { remove, overwrite });
  terminal.result(
    {
      recovered: done.map(({ path: to, from, integrations, outcome }) => ({
        path: to,
        from,
        integrations,
        outcome,
      })),
    },
    done.length === 0 ? [`${path}: no files of killed runs here; nothing to repair`] : done.map(lineOf),
  );
}

/** What a file consists of, if not of integrations. */
const kinds: Partial<Record<string, string>> = {
  '.fil': 'value',
  '.sf': 'value',
  '.json': 'description',
  '.fits': 'image',
  '.fit': 'image',
};

function lineOf({ path, from, sizeBytes, integrations, outcome }: Recovered): string {
  const size = formatBytes(sizeBytes);
  const what = kinds[parse(path).ext.toLowerCase()] ?? 'integration';
  const count = `${integrations} ${what}${integrations === 1 ? '' : 's'}`;
  switch (outcome) {
    case 'recovered':
      return `${path}: ${count} recovered`;
    case 'whole already':
      return `${path}: ${count}, whole`;
    case 'nothing was finished':
      return `${from}: no ${what} was finished; corella recover ${from} --remove removes its ${size}`;
    case 'removed':
      return `${from}: removed, ${size}`;
    case 'no visibilities':
      return `${from}: only visibilities, beams and series of images can be recovered; corella recover ${from} --remove removes its ${size}`;
  }
}
