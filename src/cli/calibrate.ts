/** corella calibrate: visibilities and a model of the sky to gains. */
import type { Command } from 'commander';
import { addFlags, checkObservation, type Flags } from '../observation/index.js';
import { isProduct, type Product } from '../products/index.js';
import type { IntegrationChoice } from '../stages/index.js';
import { pathsOfGains, planGains, solvePlanned, writeSolvedGains } from '../visibilities/index.js';
import { openVisibilities, refuseUnknown, telescopeFor, withBackend } from './open.js';
import { addBackendOptions, addExamples, type BackendOptions } from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { addIntegrationOption, type IntegrationOptions } from './options/integration-options.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { addOverwriteOption, checkOutputs, type OutputOptions } from './options/outputs.js';
import { addPartOptions, partOf, type PartOptions } from './options/part-options.js';
import { inWordsOf } from './options/shorthand.js';
import { reportSkyModels } from './options/sky-options.js';
import { tellingBand } from './report/band-lines.js';
import { gainsFacts, gainsLines, lackingLines } from './report/calibration-report.js';
import { tellingFlags, withOrientation } from './report/flag-lines.js';
import { history } from './report/history.js';
import { PartlyDone } from './report/outcome.js';
import { openTerminal } from './report/terminal.js';

type CalibrateOptions = BackendOptions & OutputOptions & PartOptions & OpenFlags & IntegrationOptions;

export function registerCalibrate(program: Command): void {
  const command = program.command('calibrate').argument('<visibilities>', 'in any format we read');
  const flags = addFlags(command, {
    parts: ['products.gains'],
    renamed: { 'products.gains.gains': { otherwise: 'gains.json' } },
  });
  addIntegrationOption(command);
  addPartOptions(command);
  addOverwriteOption(command);
  addOpenOptions(command, 'visibilities');
  addBackendOptions(command);
  addEopOption(command);
  command.action((path: string, options: CalibrateOptions) => {
    const isChosen = command.getOptionValueSource('integration') === 'cli';
    const asked = isChosen ? options.integration : undefined;
    return inWordsOf(flags.inFlags, () => run(path, options, flags, asked));
  });
  addExamples(command, [
    ['calibrate visibilities.uvfits', 'with every bright source that was up'],
    [
      'calibrate visibilities.uvfits --sources CygA,CasA --min-baseline 5wl',
      'two sources, no baselines shorter than five wavelengths',
    ],
    [
      'calibrate noon.uvfits --sources Sun --diffuse galaxy --element mwa-dipole',
      'the Sun and a smooth Galaxy behind it',
    ],
    ['calibrate noon.uvfits --sources Sun --reference stand21 -o sun.json', 'in daylight, on the Sun alone'],
    ['calibrate field.uvfits --sources field-sources.txt', "a sky model's file: WSClean, BBS or CSV"],
    ['calibrate long.uvh5 --every 10s', 'gains that follow the observation'],
    [
      'calibrate visibilities.uvh5 --sources CygA --over delay --delays-out cables.json',
      'cable lengths, for correlate --delays cables.json',
    ],
    [
      'calibrate visibilities.uvfits --sources TauA --polarise TauA:0:0.02:0',
      'a polarised source gives X and Y one phase: U and V are calibrated too',
    ],
    [
      'calibrate second.uvfits --cross-hand first.json',
      'the phase between X and Y as an earlier observation had it',
    ],
    [
      'calibrate long.uvh5 --flag stand17:Y,channels=150.2MHz..150.4MHz --flag-interference',
      'without a dead dipole and a transmitter, and without other interference; --flags-out writes what was flagged',
    ],
    [
      'calibrate field.uvfits --sources field-sources.txt --polarisation full',
      'leakage between X and Y too; three polarised sources in the model hold I, Q, U and V',
    ],
    ['calibrate visibilities.uvfits --iterations 300 --json', 'a fixed amount of work, numbers for machines'],
  ]);
}

async function run(
  path: string,
  options: CalibrateOptions,
  flags: Flags,
  integration: IntegrationChoice | undefined,
): Promise<void> {
  const screen = openTerminal(options);
  const product = productOf(path, flags);
  const out = product.gains ?? 'gains.json';
  const paths = pathsOfGains({ ...product, gains: out });
  if (product.sources !== undefined) await reportSkyModels(product.sources, options);
  const opened = await openVisibilities(path, await openOptions(options));
  try {
    refuseUnknown(opened);
    const beside = options.flagsOut === undefined ? [] : [options.flagsOut];
    await checkOutputs({ ...options, paths: [...paths, ...beside], from: path });
    const { file, told, finish } = await partOf(opened, options);
    const plan = await planGains(file, {
      ...{ product, telescope: await telescopeFor(file, options), target: options.target, integration },
    });
    const reported = (product.polarise ?? []).length > 0 ? withOrientation(told) : told;
    const terminal = tellingBand(tellingFlags(screen, reported, options), plan.telescope, file);
    let stage = terminal.stage('read');
    const solved = await withBackend(options, (backend) =>
      solvePlanned(file, plan, {
        ...{ backend, onRead: stage.update },
        onStep: (part, what) => {
          stage.step(part, what);
        },
        onSolving: () => {
          stage.done();
          stage = terminal.stage('calibrate');
        },
      }),
    );
    const seconds = stage.done();
    await writeSolvedGains(out, solved, history({ from: file, telescope: plan.telescope }));
    await finish();
    terminal.result(
      { path: out, paths, ...gainsFacts(solved), seconds },
      gainsLines(solved, paths).map(flags.inFlags),
    );
    const lacking = lackingLines(solved);
    if (lacking.length > 0) throw new PartlyDone(flags.inFlags(lacking.join('\n')));
  } finally {
    await opened.close();
  }
}

/** What the command line asks for. */
function productOf(path: string, { given }: Flags): Product<'gains'> {
  const asked = { gains: 'gains.json', ...given().products.gains };
  const source = { visibilities: path };
  const [product] = checkObservation({ corella: 1, source, products: [asked] }, 'command line').products;
  if (!isProduct('gains', product)) throw new Error('calibrate: it is not gains');
  return product;
}
