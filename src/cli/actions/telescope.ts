/** What corella telescope does, loaded when it runs. */
import { createInterface } from 'node:readline/promises';
import { basename } from 'node:path';
import { refuse } from '../../core/errors.js';
import { SPEED_OF_LIGHT_M_PER_S, formatHz } from '../../core/units.js';
import { fromText, frequencyHz } from '../../fields/index.js';
import { writeFileWhole, checkOutputs } from '../../formats/index.js';
import { parseDescription } from '../../telescope/description.js';
import { describedByTape, placeByTape, type TapedAntenna } from '../../telescope/tape.js';
import { openTerminal } from '../report/terminal.js';
import type { TelescopeOptions } from '../telescope.js';

interface Asker {
  /** Asks until the answer is valid; input from a file is refused at the first invalid answer. */
  readonly ask: <Answer>(
    question: string,
    preset: string | undefined,
    read: (text: string) => Answer,
  ) => Promise<Answer>;
  readonly close: () => void;
}

function openAsker(): Asker {
  const { stdin, stderr } = process;
  const isTerminal = stdin.isTTY;
  const reader = createInterface({ input: stdin, output: stderr, terminal: isTerminal });
  const lines = reader[Symbol.asyncIterator]() as AsyncIterator<string, undefined>;
  return {
    ask: async (question, preset, read) => {
      for (;;) {
        stderr.write(`${question}${preset === undefined || preset === '' ? '' : ` [${preset}]`}: `);
        const step: IteratorResult<string, undefined> = await lines.next();
        if (!isTerminal) stderr.write('\n');
        if (step.done === true)
          refuse('telescope', `no answer to "${question}"`, 'give one line for each question');
        const text = step.value.trim() === '' && preset !== undefined ? preset : step.value.trim();
        try {
          return read(text);
        } catch (error) {
          if (!isTerminal || !(error instanceof Error)) throw error;
          stderr.write(`${error.message}\n`);
        }
      }
    },
    close: () => {
      reader.close();
    },
  };
}

const numberIn =
  (what: string, least: number, most: number) =>
  (text: string): number => {
    const value = Number(text.replace('−', '-'));
    if (text === '' || !(value >= least && value <= most))
      refuse(
        what,
        `'${text}' is no number from ${least} to ${most}`,
        'give it in the unit that is asked for',
      );
    return value;
  };
const hertz =
  (what: string) =>
  (text: string): number =>
    fromText(frequencyHz, text, what).value as number;
const nameOf = (text: string): string =>
  /^[\w.-]+$/.test(text) ? text : refuse('name', `'${text}' is no name`, 'use letters, digits, dots, dashes');

const MOST_ANTENNAS = 1000;

export async function run(options: TelescopeOptions): Promise<void> {
  const { out: path } = options;
  if (!/\.json$/i.test(path)) refuse('--out', `'${path}' is no name of a description`, 'end it in .json');
  const positions = path.replace(/\.json$/i, '.csv');
  await checkOutputs({ ...options, paths: [path, positions] });
  const asker = openAsker();
  const { ask } = asker;
  const stem = basename(path).replace(/\.json$/i, '');
  const name = await ask('Name of the telescope', stem, nameOf);
  const title = await ask('What it is', name, (text) => text);
  const site = {
    latitudeDeg: await ask('Latitude, degrees, north positive', undefined, numberIn('latitude', -90, 90)),
    longitudeDeg: await ask('Longitude, degrees, east positive', undefined, numberIn('longitude', -180, 360)),
    heightM: await ask('Height above sea level, metres', '0', numberIn('height', -500, 10_000)),
  };
  const centreFrequencyHz = await ask('Centre frequency, like 1420MHz', undefined, hertz('frequency'));
  const sampleRateHz = await ask('Sample rate, like 2.4MHz', '2.4MHz', hertz('rate'));
  const polarisations = await ask('Polarisations of each antenna', '1', numberIn('polarisations', 1, 2));
  const antennas: TapedAntenna[] = [];
  const first = await ask('Name of the first antenna, from which the others are measured', 'a0', nameOf);
  antennas.push({ name: first, x: 0, y: 0, z: 0 });
  for (;;) {
    const next = await ask(
      'Next antenna: NAME EAST NORTH [UP] or NAME DISTANCE@BEARING [UP], in metres and degrees from true north; empty to end',
      '',
      (text) => {
        if (text === '') return undefined;
        const [word, ...place] = text.split(/\s+/);
        if (antennas.some((one) => one.name === word))
          refuse('antenna', `${word} is there already`, 'name it otherwise');
        return { name: nameOf(word), ...placeByTape(place.join(' '), word) };
      },
    );
    if (!next) break;
    antennas.push(next);
    if (antennas.length === MOST_ANTENNAS) break;
  }
  asker.close();
  if (antennas.length < 2) refuse('telescope', 'one antenna has no baseline', 'give a second one');
  const { text, places, baselines } = describedByTape(antennas, {
    name,
    title,
    site,
    positions: basename(positions),
    polarisations,
    centreFrequencyHz,
    sampleRateHz,
  });
  parseDescription(text, path);
  await writeFileWhole(positions, Buffer.from(places));
  await writeFileWhole(path, Buffer.from(text));
  const longest = Math.max(...baselines.map(({ lengthM }) => lengthM));
  const wavelengthM = SPEED_OF_LIGHT_M_PER_S / centreFrequencyHz;
  openTerminal(options).result(
    { description: path, positions, antennas: antennas.length, baselines, wavelengthM },
    [
      `${path}, ${positions}: ${antennas.length} antennas at ${formatHz(centreFrequencyHz)}`,
      'distances, to check with the tape:',
      ...baselines
        .slice(0, 28)
        .map(({ between, lengthM }) => `  ${between.join('–')}  ${lengthM.toFixed(2)} m`),
      `the wavelength is ${(100 * wavelengthM).toFixed(1)} cm: the fringes of the longest baseline are ${((180 / Math.PI) * (wavelengthM / longest)).toFixed(2)}° apart`,
    ],
  );
}
