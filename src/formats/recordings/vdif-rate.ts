/** VDIF's frames per second: from the headers' extension, from the user, or from a restart of the frame numbers. */
import { refuse } from '../../core/errors.js';
import { formatHz } from '../../core/units.js';
import { namedRateHz, type VdifHeader } from '../../core/vdif-header.js';
import { largestTogether } from './frames.js';

type NumberedFrame = Pick<VdifHeader, 'thread' | 'seconds' | 'frame' | 'extension' | 'parts'>;

interface FrameRate {
  readonly perSecond: number;
  readonly from: 'header' | 'user' | 'numbers';
  /** Assumptions that rest on the end of a single second, for display. */
  readonly assumed?: readonly string[];
}

interface Seen {
  /** One more than the highest frame number. */
  readonly frames: number;
  /** Two seconds ended with that number: two frames would have to be lost for it to be wrong. */
  readonly isConfirmed: boolean;
}

/** `windows`: the headers of each part of the file that was examined. */
export function frameRate(
  path: string,
  windows: readonly (readonly NumberedFrame[])[],
  samples: number,
  userRateHz: number | undefined,
): FrameRate {
  const headers = windows.flat();
  const seen = windows.some(beginsAgain) ? framesSeen(headers) : undefined;
  const said = headers.map(namedRateHz).find((rate) => rate !== undefined);
  const rateHz = said ?? userRateHz;
  if (rateHz !== undefined) {
    const perSecond = rateHz / samples;
    if (!Number.isInteger(perSecond) || perSecond < 1) {
      refuse(
        path,
        `${rateHz} samples a second are not a whole number of frames of ${samples} samples`,
        'give the sample rate of each channel with source.rate',
      );
    }
    if (said !== undefined) return { perSecond, from: 'header' };
    if (seen && (perSecond < seen.frames || perSecond > mostWith(seen.frames))) {
      refuse(
        path,
        `its frame numbers make ${seen.frames} frames a second, ${formatHz(seen.frames * samples)}`,
        'leave out source.rate, which is for files that do not state it',
      );
    }
    return { perSecond, from: 'user' };
  }
  if (!seen) {
    refuse(
      path,
      'its sample rate is unknown: no extension states it, and no second ends near its start or end',
      'give the sample rate of each channel with source.rate',
    );
  }
  return {
    perSecond: seen.frames,
    from: 'numbers',
    ...(!seen.isConfirmed && {
      assumed: [
        `the sample rate is ${formatHz(seen.frames * samples)}, by the highest frame number of one second alone: ` +
          'it is higher where that second lost its last frames; source.rate gives it exactly',
      ],
    }),
  };
}

/** The last frames of a second may be lost, in every second examined: up to a tenth of them, or one. */
const mostWith = (seen: number): number => Math.max(1.1 * seen, seen + 1);

function beginsAgain(headers: readonly NumberedFrame[]): boolean {
  const seconds = new Set(headers.map((header) => header.seconds));
  return [...seconds].some((second) => seconds.has(second + 1));
}

function framesSeen(headers: readonly NumberedFrame[]): Seen {
  // A number further above the others than there are frames is damage.
  const highest = largestTogether(
    headers.map(({ frame }) => frame),
    headers.length,
  );
  const last = headers.filter(({ frame }) => frame === highest);
  // Of one thread, because some recorders write wrong seconds into others.
  const isConfirmed = last.some(({ thread, seconds }) =>
    last.some((other) => other.thread === thread && other.seconds !== seconds),
  );
  return { frames: highest + 1, isConfirmed };
}

/**
 * A frame number beyond the inferred or given rate: then all times are wrong. A number more than twice as high is only
 * damage.
 */
export function refuseBeyond(path: string, { perSecond, from }: FrameRate, frame: number): void {
  if (from === 'header' || frame < perSecond || frame >= 2 * perSecond) return;
  refuse(
    path,
    `holds frame number ${frame} where a second was ${from === 'user' ? 'said' : 'seen'} to have ${perSecond} frames`,
    'give the sample rate of each channel with source.rate: it is higher',
  );
}
