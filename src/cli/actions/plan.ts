/** What corella plan does, loaded when it runs. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { formatSeconds } from '../../core/units.js';
import {
  cardCosts,
  cardMachine,
  findCard,
  measureCard,
  machineOf,
  measureCosts,
  type MethodRun,
  planImaging,
  methodNames,
  runPlan,
  workloadOf,
} from '../../planner/index.js';
import { refuseGiven } from '../options/command.js';
import { withBackend } from '../open.js';
import { reportPlan, methodTitles } from '../report/plan-report.js';
import { chooseTelescope } from '../options/sky-options.js';
import { openTerminal } from '../report/terminal.js';
import type { PlanOptions } from '../plan.js';

const DEFAULT_DATA_S = 2;

const plainBits = (bits: 4 | 8 | 'float'): 4 | 8 =>
  bits === 'float' ? refuse('--bits', 'float is not planned', 'choose 4 or 8') : bits;

export async function run(options: PlanOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  if (options.card !== undefined)
    refuseGiven(command, ['backend', 'threads'], 'is for this machine, and --card names another');
  if (options.seconds !== undefined && !options.measure) {
    refuse('--seconds', 'no kernel is run', 'add --measure');
  }
  const telescope = await chooseTelescope(options);
  const workload = workloadOf({
    telescope,
    ...(options.channels === undefined ? {} : { channels: options.channels }),
    channelWidthHz: options.channelWidth,
    centreFrequencyHz: options.frequency,
    ...(options.bits === undefined ? {} : { bits: plainBits(options.bits) }),
    input: options.fromSpectra ? 'spectra' : 'voltages',
    taps: options.taps,
    cadenceS: options.cadence,
    calibrateEveryS: Math.max(options.calibrateEvery, options.cadence),
    pixels: options.pixels,
    field: options.field === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg: options.field },
    kernelSize: options.kernel,
    beams: options.beams,
  });
  if (options.card !== undefined) {
    if (options.measure) {
      refuse('plan', '--measure runs on this machine, --card names another', 'give one of the two');
    }
    const card = findCard(options.card);
    reportPlan(terminal, planImaging(workload, cardCosts(card, workload), cardMachine(card)), []);
    return;
  }
  await withBackend(options, async (backend) => {
    if (options.seconds !== undefined && backend.kind !== 'cuda')
      refuse('--seconds', `data are run through on a card, not on '${backend.kind}'`, 'leave it out');
    const stage = terminal.stage(`timing ${backend.description}`);
    const { costs, machine } =
      backend.kind === 'cuda'
        ? await measureCard(backend, telescope, workload)
        : { costs: await measureCosts(backend, workload), machine: machineOf(backend) };
    stage.done();
    const plan = planImaging(workload, costs, machine);
    const runs: MethodRun[] = [];
    for (const method of options.measure ? methodNames : []) {
      const running = terminal.stage(`running: ${methodTitles[method]}`);
      const dataS = options.seconds ?? DEFAULT_DATA_S;
      runs.push(await runPlan(method, backend, telescope, { plan, costs, dataS }));
      running.done();
    }
    reportPlan(terminal, plan, runs);
    refuseLate(runs);
  });
}

/** On a GPU the whole workload is run: falling behind is an error. */
function refuseLate(runs: readonly MethodRun[]): void {
  const late = runs.filter(({ card, elapsedS, dataS }) => card && elapsedS > dataS);
  if (late.length === 0) return;
  const slowest = late.map(
    ({ method, elapsedS, dataS }) =>
      `${methodTitles[method]} took ${formatSeconds(elapsedS)} for ${formatSeconds(dataS)} of data`,
  );
  refuse('plan', `fell behind real time: ${slowest.join(', ')}`, 'take fewer channels, or images less often');
}
