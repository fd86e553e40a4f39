/** corella convert: the same data in another format. */
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { formatSeconds } from '../core/units.js';
import { openFile, sigmfPaths, visibilityFormatFor } from '../formats/index.js';
import { copyRecording } from '../pipeline/convert.js';
import { written } from '../pipeline/write.js';
import { addCommonOptions, addExamples, type CommonOptions } from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { lossFacts, lossLines } from './report/loss-lines.js';
import { unknownFactLines } from './open.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { history } from './report/history.js';
import { addOverwriteOption, checkOutputs, type OutputOptions } from './options/outputs.js';
import { openTerminal } from './report/terminal.js';

export function registerConvert(program: Command): void {
  const command = program
    .command('convert')
    .description('the same data in another format; the extension chooses it')
    .argument('<from>', 'a file in any format we read')
    .argument(
      '<to>',
      'what to write: visibilities .uvh5 or .uvfits; voltages and channelised data .sigmf-meta',
    )
    .action(run);
  addOpenOptions(command, 'anything');
  addOverwriteOption(command);
  addCommonOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['convert visibilities.uvfits visibilities.uvh5', 'for pyuvdata'],
    [
      'convert eda2_correlation_burst.hdf5 burst.uvfits --telescope eda2',
      "a station's correlator dump, for casacore and WSClean",
    ],
    [
      'convert 1061315448.metafits observation.uvh5 --remove-cables',
      'all MWA correlator files beside a metafits, joined; cable delays taken out',
    ],
    [
      'convert recording.vdif recording.sigmf-meta --rate 32MHz',
      'VLBI frames to SigMF; missing frames stay missing',
    ],
  ]);
}

async function run(
  from: string,
  to: string,
  options: CommonOptions & OpenFlags & OutputOptions,
): Promise<void> {
  const terminal = openTerminal(options);
  const paths = /\.sigmf(-meta|-data)?$/i.test(to) ? sigmfPaths(to) : [to];
  await checkOutputs({ ...options, paths, from });
  const file = await openFile(from, await openOptions(options));
  const stage = terminal.stage('convert');
  try {
    const lines = history({ from: file });
    let made: { readonly text: string; readonly json: object; readonly notes: readonly string[] };
    if (file.kind === 'visibilities') {
      const format = visibilityFormatFor(to);
      const header = { ...file.header, history: lines };
      const count = await written(
        () => format.createVisibilities(to, header),
        async (append) => {
          let done = 0;
          for await (const integration of file.integrations('reused')) {
            await append(integration);
            stage.update({ done: ++done, of: file.integrationCount, unit: 'integrations' });
          }
          return done;
        },
      );
      made = {
        text: `${count} integration${count === 1 ? '' : 's'}`,
        json: { integrations: count },
        notes: [],
      };
    } else {
      if (!/\.sigmf(-meta|-data)?$/i.test(to)) {
        refuse(
          to,
          `${file.kind} are written as SigMF alone`,
          'end the name in .sigmf-meta; corella correlate makes visibilities of them',
        );
      }
      const { samples, missingSamples } = await copyRecording(file, to, {
        history: lines,
        onProgress: stage.update,
      });
      made = {
        text: `${samples} samples of ${file.inputs} inputs`,
        json: { samples, inputs: file.inputs, ...lossFacts(file, missingSamples) },
        notes: lossLines(file, missingSamples, 'they stay missing'),
      };
    }
    const seconds = stage.done();
    terminal.result({ from, to, kind: file.kind, written: made.text, ...made.json, seconds }, [
      `${to}: ${made.text}, ${formatSeconds(seconds)}`,
      ...unknownFactLines(file),
      ...made.notes,
    ]);
  } finally {
    await file.close();
  }
}
