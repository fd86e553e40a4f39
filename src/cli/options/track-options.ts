/** --track and --delays: what is delayed before it is correlated, or imaged directly. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { fixedDelaysS, readDelayFile, type DelayFile } from '../../delay/index.js';
import { sampleRateOf, type Recording } from '../../formats/index.js';
import { requestDelays, type DelayRequest, type RequestedDelays } from '../../stages/index.js';
import { parsePhaseCentre, type PhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';

export interface TrackOptions {
  readonly track?: string;
  readonly delays?: string;
}

export const trackOptionNames = ['track', 'delays'] as const;

export const addTrackOptions = (command: Command, turnedBack = 'each integration'): Command =>
  command
    .option(
      '--track <place>',
      `follow it by delays and fringes: a source, "RA Dec", Sun, or pieces in a delays.json; turned back at the middle of ${turnedBack}`,
    )
    .option(
      '--delays <path>',
      'a fixed delay or cable length for each input, as "fixed" of a delays.json; beside what the telescope\'s description says',
    );

/** As a law of the recording's own ticks; nothing where nothing is delayed. */
export const requestedFor = (
  recording: Recording,
  telescope: Telescope,
  request: DelayRequest,
): RequestedDelays | undefined => {
  const tickRateHz = sampleRateOf(recording);
  return requestDelays(request, telescope, {
    ...{ start: recording.start, tickRateHz, lastsS: recording.samples / tickRateHz },
  });
};

/** What follows the sky, and what always applies. */
export async function delayRequest(
  options: TrackOptions,
  telescope: Telescope,
): Promise<DelayRequest & { readonly centre?: PhaseCentre }> {
  const own = fixedDelaysS(telescope.delays ?? [], telescope.name, telescope);
  if (options.delays !== undefined) {
    const file = await readDelayFile(options.delays, telescope);
    if (file.pieces.length > 0)
      refuse('--delays', `${options.delays} has pieces, which change in time`, 'give it as --track');
    file.fixedS.forEach((delayS, a) => (own[a] += delayS));
  }
  const track = await tracked(options.track, telescope);
  return {
    fixedS: own,
    ...(track && { track }),
    ...(track && 'directionEnu' in track && { centre: track }),
  };
}

async function tracked(
  text: string | undefined,
  telescope: Telescope,
): Promise<PhaseCentre | DelayFile | undefined> {
  if (text === undefined) return undefined;
  return /\.json$/i.test(text.trim()) ? readDelayFile(text, telescope) : parsePhaseCentre(text, '--track');
}
