/** Samples of a stream, as users name them. */
import { refuse } from '../../core/errors.js';
import type { StreamType } from '../../formats/index.js';
import { ANY_OPTION } from '../options/command.js';
import { voltageTypes } from '../options/open-options.js';

export const streamTypes = [...voltageTypes, 'u8', 'cu8'] as const;
export function parseStreamType(text: string): StreamType {
  return (
    streamTypes.find((type) => type === text) ??
    refuse(ANY_OPTION, `'${text}' is not a type of samples`, `choose ${streamTypes.join(', ')}`)
  );
}
