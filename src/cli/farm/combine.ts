/** corella farm combine: joins parts of the band, correlated on separate machines, into one file. */
import type { Command } from 'commander';
import { Closers } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';
import { formatHz, formatSeconds } from '../../core/units.js';
import { visibilityFormatFor, type VisibilityFile } from '../../formats/index.js';
import { combineBands } from '../../visibilities/index.js';
import { writtenAsFar } from '../../stages/index.js';
import { openVisibilities } from '../open.js';
import { useEop } from '../options/eop-option.js';
import { checkOutputs } from '../options/outputs.js';
import { history } from '../report/history.js';
import { openTerminal } from '../report/terminal.js';
import { addHelp } from '../startup/help.js';
import { z } from 'zod';
import { again } from '../../fields/index.js';
import { visibilities } from '../../products/index.js';
import { addFields, type Options } from '../options/own.js';
import * as shared from '../options/shared.js';

const combineOptions = z.strictObject({
  out: again(shared.out, { default: 'all.uvh5' }),
  values: again(visibilities.shape.values, { default: 'means' }),
  overwrite: shared.overwrite,
  ...shared.common,
  eop: shared.eop,
});
type CombineOptions = Options<typeof combineOptions>;

export function registerCombine(farm: Command): void {
  const command = farm
    .command('combine')
    .description('Joins visibilities of several parts of the band, of the same time, into one file.')
    .argument('<files...>', 'what each machine wrote; of a night in several files a list, a.uvh5,b.uvh5');
  useEop(addFields(command, combineOptions)).action(run);
  addHelp(command, {
    common: ['--out', '--values', '--overwrite'],
    examples: [
      ['farm combine run-*.uvh5 -o run.uvh5', 'every part in this folder'],
      ['farm combine low.uvh5 high.uvh5 --values sums', 'whole numbers, bit for bit'],
      ['farm combine low.uvh5 high.uvh5 -o all.uvh5', 'two halves of the band, then corella image all.uvh5'],
    ],
  });
}

async function run(paths: readonly string[], options: CombineOptions): Promise<void> {
  const terminal = openTerminal(options);
  if (paths.length < 2) refuse('combine', 'one part is the whole already', 'name the files of all machines');
  const format = visibilityFormatFor(options.out);
  for (const from of paths) await checkOutputs({ ...options, paths: [options.out], from });
  const closers = new Closers();
  try {
    const files: VisibilityFile[] = [];
    for (const path of paths) files.push(closers.keep(await openVisibilities(path)));
    const [made] = history().slice(-1);
    const bands = combineBands(files, [made, ...paths.map((path) => `from ${path}`)]);
    const stage = terminal.stage('combine');
    let integrations = 0;
    await writtenAsFar(
      { path: options.out, unit: 'integration' },
      () => format.createVisibilities(options.out, bands.header, { values: options.values }),
      async (append, stop) => {
        for await (const one of bands.integrations()) {
          stop.throwIfAborted();
          await append(one);
          integrations++;
          stage.update({ done: integrations, unit: 'integrations' });
        }
      },
    );
    const seconds = stage.done();
    const { frequenciesHz, channelWidthHz } = bands.header;
    const absent = bands.absent.map(({ path, from, integrations: count, durationS, leftOutS }) => ({
      path,
      fromUtc: formatInstant(from, 3),
      integrations: count,
      durationS,
      leftOutS,
    }));
    const differentFlags = bands.differentFlags();
    terminal.result(
      {
        path: options.out,
        integrations,
        channels: frequenciesHz.length,
        channelWidthHz,
        absent,
        differentFlags,
        seconds,
      },
      [
        `${options.out}: ${integrations} integrations of ${frequenciesHz.length} channels of ${formatHz(channelWidthHz)}, from ${paths.length} parts`,
        ...absent.map(
          ({ path, fromUtc, durationS, leftOutS }) =>
            `${path} has ${leftOutS > 0 ? `${formatSeconds(leftOutS)} alone, in integrations that begin or end elsewhere and are left out,` : 'nothing'} from ${fromUtc} on for ${formatSeconds(durationS)}: its channels count nothing there`,
        ),
        ...(differentFlags > 0
          ? [
              `at ${differentFlags} times the parts had left out different inputs: each left out in the channels of its part`,
            ]
          : []),
      ],
    );
  } finally {
    await closers.close();
  }
}
