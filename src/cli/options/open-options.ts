/**
 * Facts that a file may lack and the user can give: fields of an observation's source, for a command that is no
 * shorthand.
 */
import type { z } from 'zod';
import type { OpenFileOptions } from '../../formats/index.js';
import { source, type SourcePart } from '../../observation/index.js';
import type { Options } from './own.js';
import { telescope } from './shared.js';

const { format, rate, frequency, inputs, polarisations, skip, sideband, start, near, tuning } = source.shape;
const { metafits, column, uvw, target } = source.shape;
export const openFields = {
  format,
  telescope,
  rate,
  frequency,
  inputs,
  polarisations,
  skip,
  sideband,
  start,
  near,
  tuning,
  sampleBits: source.shape['sample-bits'],
  sampleType: source.shape['sample-type'],
  removeCables: source.shape['remove-cables'],
  storedPair: source.shape['stored-pair'],
  secondsOf: source.shape['seconds-of'],
  metafits,
  column,
  uvw,
  target,
};
export type OpenFlags = Options<z.ZodObject<typeof openFields>>;

/** What the user says of a recording, as the source of an observation. */
export function factsOf(flags: OpenFlags): SourcePart {
  const facts = {
    ...flags,
    'sample-bits': flags.sampleBits,
    'sample-type': flags.sampleType,
    'remove-cables': flags.removeCables,
    'stored-pair': flags.storedPair,
    'seconds-of': flags.secondsOf,
  };
  return Object.fromEntries(
    Object.entries(facts).filter(([key, value]) => value !== undefined && key in source.shape),
  );
}

export async function openOptions(flags: OpenFlags): Promise<OpenFileOptions> {
  const { readingOptionsOf } = await import('../../observation/index.js');
  return readingOptionsOf(factsOf(flags), flags.telescope);
}
