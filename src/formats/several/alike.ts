/** Which files belong in one recording; others are refused by name. */
import { refuse } from '../../core/errors.js';
import { sampleRateOf } from '../../core/sources.js';
import type { Recording, SpectraRecording } from '../format.js';

type Words = (recording: Recording) => readonly string[];

/** Facts present in both must be equal. */
function compare(first: Recording, other: Recording, say: Words, fix: string): void {
  const [one, two] = [say(first), say(other)];
  const odd = one.findIndex((words, k) => words !== two[k]);
  if (odd >= 0) refuse(other.path, `has ${two[odd]} where ${first.path} has ${one[odd]}`, fix);
}

export function refuseUnlike(first: Recording, other: Recording): void {
  const say: Words = (recording) => [
    recording.kind,
    `${sampleRateOf(recording)} samples a second`,
    `samples of type ${recording.type}`,
    recording.kind === 'voltages'
      ? `a band around ${recording.centreFrequencyHz} Hz`
      : `${recording.channels} channels from ${recording.frequenciesHz[0]} Hz`,
    `${recording.bits ?? 'all'} bits of its type`,
    `${recording.kind === 'spectra' ? (recording.realChannels ?? 0) : 0} channels of real numbers`,
  ];
  compare(first, other, say, 'join recordings of one kind');
  if (first.kind !== 'spectra' || other.kind !== 'spectra') return;
  const gains = ({ gainRatio = 1, levels }: SpectraRecording): string => `${gainRatio} ${levels?.join(' ')}`;
  if (gains(first) !== gains(other))
    refuse(
      other.path,
      `was rounded by other gains than ${first.path}, and one file has one set of them`,
      'channelise them alike, with one front.gain or front.equaliser, or correlate them one by one',
    );
}

/** Consecutive files have the same inputs throughout: those of one telescope, in one order. */
export function refuseOtherInputs(first: Recording, other: Recording): void {
  const say: Words = ({ inputs, polarisations, telescope, details }) => [
    `${inputs} inputs`,
    `${polarisations} polarisation${polarisations === 1 ? '' : 's'}`,
    telescope ? `the stations of ${telescope.name}` : 'no telescope',
    `threads ${JSON.stringify(details.threads)}`,
    `stands ${JSON.stringify(details.stands)}`,
  ];
  compare(first, other, say, 'join recordings of one arrangement');
  const places = ({ telescope }: Recording): string =>
    (telescope?.stations ?? [])
      .map(({ name, eastM, northM, upM }) => `${name} ${eastM} ${northM} ${upM}`)
      .join();
  if (places(first) !== places(other))
    refuse(
      other.path,
      `its stations are not where those are of ${first.path}`,
      'join recordings of one arrangement',
    );
}
