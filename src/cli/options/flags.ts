/** Inputs and stations to flag, by number or by the station's name. */
import { refuse } from '../../core/errors.js';
import { inputsNamed } from '../../stages/index.js';
import type { Telescope } from '../../telescope/telescope.js';

/** flags : [a], 1 if an input is flagged. */
export function parseFlags(
  text: string | undefined,
  inputs: number,
  polarisations: 1 | 2,
  telescope?: Pick<Telescope, 'stations'>,
  option = '--flag',
): Uint8Array {
  const words = (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const flags = inputsNamed(words, inputs, polarisations, telescope?.stations, option);
  refuseAll(text, flags, option);
  return flags;
}

function refuseAll(text: string | undefined, flags: Uint8Array, option: string): void {
  if (text !== undefined && flags.every((flag) => flag === 1))
    refuse(option, `'${text}' leaves out every input`, 'keep some');
}
