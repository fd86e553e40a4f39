/** What corella farm combine does, loaded when it runs. */
import { Closers } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';
import { formatHz, formatSeconds } from '../../core/units.js';
import { visibilityFormatFor, type VisibilityFile, checkOutputs } from '../../formats/index.js';
import { combineBands } from '../../visibilities/index.js';
import { writtenAsFar } from '../../stages/index.js';
import { openVisibilities } from '../open.js';
import { history } from '../report/history.js';
import { openTerminal } from '../report/terminal.js';
import type { CombineOptions } from '../farm/combine.js';

export async function run(paths: readonly string[], options: CombineOptions): Promise<void> {
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
