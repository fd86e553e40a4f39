/** Sources as a user selects them: all, by name, by position, or from a sky model file. */
import { refuse } from '../core/errors.js';
import type { SkyFrame } from './frame.js';
import { isSkyModelPath, readSkyModel } from './models/read.js';
import { parseSource, sourceAt, type Source } from './source.js';
import { findSources, withFlux } from './sources.js';

/** Sources at a frame's moment: those given by altitude and azimuth are there at that moment. */
export type ChosenSources = (frame: SkyFrame) => readonly Source[];

/** By name, by hand (NAME:RA_DEG:DEC_DEG:FLUX_JY), or from a sky model file. */
function sourcesOf(text: string): readonly Source[] {
  const word = text.trim();
  if (isSkyModelPath(word)) return readSkyModel(word);
  return withFlux(text) ?? (text.includes(':') ? [parseSource(text)] : findSources([word]));
}

/** Those named by options, except by a position that moves with the sky. */
export const sourcesNamed = (names: 'all' | readonly string[]): readonly Source[] =>
  names === 'all' ? findSources('all') : names.flatMap(sourcesOf);

/** Names and sources given by hand, checked at once, before the work starts. */
export function parseSources(text: string): ChosenSources {
  if (text.trim() === 'all') return () => findSources('all');
  const each = text.split(',').map((part): ((frame: SkyFrame) => Source | readonly Source[]) => {
    const local = /^([^@:]+)@([^:]+):([^:]+):([^:]+)$/.exec(part.trim());
    if (!local || isSkyModelPath(part.trim())) {
      const sources = sourcesOf(part);
      return () => sources;
    }
    const [altDeg, azDeg, fluxJy] = local
      .slice(2)
      .map((field) => (field.trim() === '' ? Number.NaN : Number(field)));
    if (![altDeg, azDeg, fluxJy].every(Number.isFinite)) {
      refuse(
        'sources',
        `'${part}' is not a source`,
        'write NAME@ALT_DEG:AZ_DEG:FLUX_JY, like spot@60:90:5000',
      );
    }
    return (frame) => sourceAt(frame, altDeg, azDeg, fluxJy, local[1]);
  });
  return (frame) => each.flatMap((one) => one(frame));
}
