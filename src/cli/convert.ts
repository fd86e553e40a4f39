/** corella convert: the same data in another format. */
import { phasedAt, written } from '../stages/index.js';
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import {
  openFile,
  sigmfPaths,
  visibilityFormatFor,
  type VisibilityFile,
  type VisibilityHeader,
} from '../formats/index.js';
import { copyRecording, reworkVisibilities } from '../visibilities/index.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import { addCommonOptions, addExamples, type CommonOptions } from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { lossFacts, lossLines } from './report/loss-lines.js';
import { unknownFactLines } from './open.js';
import { addPhaseCentreOption, parseCentre, type PhaseCentreOptions } from './options/phase-centre-option.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { finishFlags, withFlags } from './options/part-options.js';
import { tellingFlags } from './report/flag-lines.js';
import {
  addReworkOptions,
  reworkOf,
  visibilityOptionNames,
  type ReworkFlags,
} from './options/rework-options.js';
import { history } from './report/history.js';
import { addOverwriteOption, checkOutputs, type OutputOptions } from './options/outputs.js';
import { openTerminal } from './report/terminal.js';

export function registerConvert(program: Command): void {
  const command = program
    .command('convert')
    .argument('<from>', "a file in any format we read, or several as one: 'a.vdif,b.vdif', 'night.*.raw'")
    .argument(
      '<to>',
      'what to write: visibilities .uvh5, .uvfits or .ms (through casacore); voltages and channelised data .sigmf-meta',
    )
    .action(run);
  addPhaseCentreOption(command, "the file's own");
  addReworkOptions(command);
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
      'convert visibilities.uvh5 cyga.uvfits --phase-centre CygA',
      'fringes stopped at a source, by our own geometry',
    ],
    [
      'convert night.uvh5 part.uvfits --channels 100-299 --antennas stand1,stand2,stand17 --average-time 10',
      'a part of it, averaged with fringes stopped',
    ],
    [
      'convert night.uvh5 flagged.uvh5 --flag-interference --flag times=2026-06-21T04:10:00Z..2026-06-21T04:11:00Z',
      'interference and a bad minute flagged; values and weights stay',
    ],
    [
      'convert recording.vdif recording.sigmf-meta --rate 32MHz',
      'VLBI frames to SigMF; missing frames stay missing',
    ],
    [
      "convert 'guppi_59332_80137.*.raw' whole.sigmf-meta",
      'files that follow each other are one recording, what is lost between them a gap; files of the same time are stations side by side',
    ],
  ]);
}

async function run(
  from: string,
  to: string,
  options: CommonOptions & OpenFlags & OutputOptions & PhaseCentreOptions & ReworkFlags,
): Promise<void> {
  const screen = openTerminal(options);
  const paths = /\.sigmf(-meta|-data)?$/i.test(to) ? sigmfPaths(to) : [to];
  const beside = options.flagsOut === undefined ? [] : [options.flagsOut];
  await checkOutputs({ ...options, paths: [...paths, ...beside], from });
  const file = await openFile(from, await openOptions(options));
  const stage = screen.stage('convert');
  let terminal = screen;
  try {
    const lines = history({ from: file });
    let made: { readonly text: string; readonly json: object; readonly notes: readonly string[] };
    if (file.kind === 'visibilities') {
      const format = visibilityFormatFor(to);
      const centre = parseCentre(options);
      // The file's own flags are taken out before ours are put in.
      const bare = options.unflag ? reworkVisibilities(file, { unflag: true }) : file;
      const flagged = await withFlags(bare, options);
      const kept = flagged?.file ?? bare;
      const work = reworkOf(file, options);
      const moved = centre && phasedAt(centre, file.telescope.site, await middleOf(file, centre));
      const source = work
        ? reworkVisibilities(kept, { ...work, ...(moved && { phaseCentre: moved.phaseCentre }) })
        : kept;
      terminal = tellingFlags(screen, { file, ...(flagged && { account: flagged.account }) }, options);
      const header = {
        ...(centre ? withoutDrift(source.header) : source.header),
        history: lines,
        ...moved,
      };
      const count = await written(
        () => format.createVisibilities(to, header),
        async (append) => {
          let done = 0;
          for await (const integration of source.integrations('reused')) {
            await append(integration);
            stage.update({ done: ++done, of: file.integrationCount, unit: 'integrations' });
          }
          if (done === 0 && options.times !== undefined)
            refuse('--times', `no integration of ${from} lies there`, 'see its times with corella inspect');
          return done;
        },
      );
      await finishFlags(flagged, file, options);
      made = {
        text: `${count} integration${count === 1 ? '' : 's'}`,
        json: { integrations: count },
        notes: [],
      };
    } else {
      const odd = visibilityOptionNames.find((name) => options[name] !== undefined);
      if (odd !== undefined)
        refuse(
          `--${odd.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
          `is for visibilities, and ${from} holds ${file.kind}`,
          'leave it out',
        );
      if (options.phaseCentre !== undefined)
        refuse('--phase-centre', `is for visibilities, and ${from} holds ${file.kind}`, 'leave it out');
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

/** Half way between the first integration's start and the last one's end; for what does not move any moment does. */
async function middleOf(file: VisibilityFile, { kind }: PhaseCentre): Promise<Instant> {
  let first: Instant | undefined;
  let end: Instant | undefined;
  for await (const { start, durationS } of file.integrations('reused')) {
    first ??= start;
    end = addSeconds(start, durationS);
    if (kind === 'fixed') break;
  }
  if (!first || !end) return refuse(file.path, 'holds no integration', 'check the file');
  return addSeconds(first, secondsBetween(first, end) / 2);
}

/** Stopped somewhere, fringes no longer run. */
function withoutDrift(header: VisibilityHeader): VisibilityHeader {
  const { fringes, ...others } = header;
  return fringes === undefined ? header : others;
}
