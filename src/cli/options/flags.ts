/** Inputs and stations to leave out, by number or by the station's name. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { Telescope } from '../../telescope/telescope.js';

export const addFlagOption = (command: Command): Command =>
  command.option(
    '--flag <list>',
    'leave out: inputs by number (12, 30-33), stations by name (stand17), one polarisation of one (stand17:Y)',
  );

export interface FlagOptions {
  readonly flag?: string;
}

/** As inputName writes them: of a file's two feeds each is the first or the second. */
const feedNumbers: Readonly<Partial<Record<string, 0 | 1>>> = { X: 0, Y: 1, R: 0, L: 1 };

/** flags : [a], 1 where an input is to be left out. */
export function parseFlags(
  text: string | undefined,
  inputs: number,
  polarisations: 1 | 2,
  telescope?: Pick<Telescope, 'stations'>,
  option = '--flag',
): Uint8Array {
  const flags = new Uint8Array(inputs);
  for (const part of (text ?? '').split(',').map((word) => word.trim())) {
    if (part === '') continue;
    const range = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (range) {
      const first = Number(range[1]);
      const last = Number(range.at(2) ?? first);
      if (last < first || last >= inputs) refuse(option, `${part} is outside inputs 0 to ${inputs - 1}`);
      flags.fill(1, first, last + 1);
      continue;
    }
    const [name, letter] = part.split(':') as [string, string?];
    const station = telescope?.stations.findIndex((candidate) => candidate.name === name) ?? -1;
    if (station < 0)
      refuse(option, `'${name}' is no station here`, "give an input's number or a station's name");
    const p = letter === undefined ? undefined : feedNumbers[letter.toUpperCase()];
    if (letter !== undefined && (p === undefined || p >= polarisations))
      refuse(option, `'${part}' names no polarisation`, 'write NAME:X or NAME:Y, of circular feeds R or L');
    if (p === undefined) flags.fill(1, station * polarisations, (station + 1) * polarisations);
    else flags[station * polarisations + p] = 1;
  }
  if (text !== undefined && flags.every((flag) => flag === 1))
    refuse(option, `'${text}' leaves out every input`, 'keep some');
  return flags;
}
