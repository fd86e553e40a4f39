/** corella inspect: what is in this file, as text or JSON. */
import type { Command } from 'commander';
import { formatInstant } from '../core/instant.js';
import { formatHz, formatSeconds } from '../core/units.js';
import type { OpenedFile } from '../formats/format.js';
import { openFile } from '../formats/registry.js';
import { describeFile, firstBlock, type FileDescription, type FirstBlock } from '../pipeline/inspect.js';
import { addCommonOptions, addExamples, type CommonOptions } from './command.js';
import { writeFileWhole } from '../formats/output.js';
import { renderPng } from '../formats/picture.js';
import { linePlot } from '../formats/plot.js';
import { addOpenOptions, openOptions, type OpenFlags } from './open-options.js';
import { openTerminal } from './terminal.js';

interface InspectOptions extends CommonOptions, OpenFlags {
  readonly spectrum?: string;
}

export function registerInspect(program: Command): void {
  const command = program
    .command('inspect')
    .description('what is in this file (any format we know), as text or JSON')
    .argument('<file>', 'a recording, channelised data or visibilities')
    .option(
      '--spectrum <path>',
      'draw the mean spectrum of the first block, or of the first integration, as PNG',
    )
    .action(run);
  addOpenOptions(command);
  addCommonOptions(command);
  addExamples(command, [
    ['inspect voltages.sigmf-meta', 'format, telescope, times, frequencies, first samples, clipping'],
    ['inspect visibilities.uvfits --json', 'the same for machines'],
    ['inspect voltages.sigmf-meta --spectrum spectrum.png', 'a picture of its band'],
  ]);
}

async function run(path: string, options: InspectOptions): Promise<void> {
  const file = await openFile(path, await openOptions(options));
  try {
    const description = describeFile(file);
    const first = await firstBlock(file);
    if (options.spectrum !== undefined) await drawSpectrum(options.spectrum, file, first);
    openTerminal(options).result(
      { ...description, first: jsonOf(first), details: file.details },
      linesOf(description, first),
    );
  } finally {
    await file.close();
  }
}

const jsonOf = ({ spectrumDb, frequenciesHz, ...rest }: FirstBlock) => ({
  ...rest,
  spectrum: { frequenciesHz: Array.from(frequenciesHz), powerDb: Array.from(spectrumDb) },
});

function linesOf(description: FileDescription, first: FirstBlock): string[] {
  const row = (name: string, value: string): string => `${name.padEnd(14)} ${value}`;
  return [
    row('file', description.path),
    row('format', `${description.format}, ${description.kind}`),
    ...(description.telescope
      ? [row('telescope', `${description.telescope.name}: ${description.telescope.title}`)]
      : []),
    row('inputs', `${description.inputs} (${description.stations} stations × ${description.polarisations})`),
    ...(description.type === undefined
      ? []
      : [row('samples', `${description.samples} of type ${description.type}`)]),
    ...(description.channels === undefined
      ? []
      : [row('channels', `${description.channels} of ${formatHz(description.channelWidthHz ?? 0)}`)]),
    row('frequencies', `${formatHz(description.lowestHz)} to ${formatHz(description.highestHz)}`),
    ...(description.start === undefined ? [] : [row('start', formatInstant(description.start, 9))]),
    ...(description.durationS === undefined ? [] : [row('duration', formatSeconds(description.durationS))]),
    ...(description.integrations === undefined
      ? []
      : [row('integrations', String(description.integrations))]),
    ...(first.rms === undefined ? [] : [row('rms', Number(first.rms.toPrecision(4)).toString())]),
    ...(first.clippedFraction === undefined
      ? []
      : [row('clipped', `${(100 * first.clippedFraction).toFixed(3)} % of the first block`)]),
    row(
      'missing',
      `${(100 * first.missingFraction).toFixed(3)} % of the first ${description.kind === 'visibilities' ? 'integration' : 'block'}`,
    ),
    row(
      'first values',
      first.values
        .map((value) =>
          typeof value === 'number'
            ? String(value)
            : `${value.re}${value.im < 0 ? '−' : '+'}${Math.abs(value.im)}i`,
        )
        .join('  '),
    ),
  ];
}

async function drawSpectrum(path: string, file: OpenedFile, first: FirstBlock): Promise<void> {
  const plot = linePlot({
    title: `Mean spectrum of ${file.path}`,
    x: { label: 'frequency (MHz)' },
    y: { label: 'power (dB)' },
    series: [{ name: 'all inputs', x: first.frequenciesHz.map((f) => f / 1e6), y: first.spectrumDb }],
  });
  await writeFileWhole(path, await renderPng(plot, { width: 1200 }));
}
