/** corella live: visibilities and images of the sky from packets or samples as they arrive. */
import { refuse } from '../core/errors.js';
import { connectQueue } from '../farm/index.js';
import { runLive, watchLosses, type LiveOutcome, type LiveRunSettings } from '../live/index.js';
import { skyModelsOf, type Observation, gainsFactsOf, gainsLinesOf } from '../observation/index.js';
import type { Flags } from '../observation/flags.js';
import {
  checkAlarmUrl,
  checkPageAddress,
  openRunPage,
  pageAddress,
  tokenOf,
  type Page,
} from '../serve/index.js';
import { fillObservation } from './live/fill.js';
import { accessOf } from './farm/access-options.js';
import { joinMachines } from './live/machines.js';
import type { LiveOptions, MachineOptions } from './live/options.js';
import { reportOutcome } from './live/outcome.js';
import { pageLines, tokenIsFor } from './live/page-lines.js';
import { openReport, type Report } from './live/report.js';
import type { CommonOptions } from './options/command.js';
import { printPlan } from './options/shorthand.js';
import { partialFileLines } from './options/partial-file-lines.js';
import {
  runInterference,
  liveVanVleck,
  bandLines,
  bandOfChannels,
  askedLines,
} from '../products/report/index.js';
import { reportSkyModels } from './options/sky-options.js';
import { version } from '../core/program/version.js';
import type { Line } from '../messages/index.js';
import type { VisibilityFacts } from '../products/index.js';

export async function run(origins: readonly string[], options: LiveOptions, flags: Flags): Promise<void> {
  const observation = await fillObservation(origins, flags, options.eop);
  if (options.plan === true) {
    await printPlan(observation, options);
    return;
  }
  refuseMachines(observation, options);
  await runLiveObservation(observation, options);
}

/** Refuses options of joined machines that would have no effect. */
function refuseMachines({ page }: Observation, { server, machine, night }: LiveOptions): void {
  if (server !== undefined && page?.address === false)
    refuse(
      '--server',
      'is for a run with a page: what is steered is steered through it',
      'leave out --no-page',
    );
  if (server === undefined && (machine !== undefined || night !== undefined))
    refuse(
      machine === undefined ? '--night' : '--machine',
      'is for several machines, which meet at a --server',
      'leave it out',
    );
}

export interface LiveReportOptions extends CommonOptions, MachineOptions {
  readonly into?: string;
  /** Opens the input, replacing what the source names. */
  readonly openInput?: LiveRunSettings['openInput'];
  /** Called with the page's address. */
  readonly onPage?: (page: Pick<Page, 'url' | 'steerUrl'>) => void;
}

/** Runs it with a report on the terminal and a page; used by corella live and corella run. */
export async function runLiveObservation(
  observation: Observation,
  options: LiveReportOptions,
): Promise<void> {
  const report = openReport(options);
  const { say } = report;
  for (const model of skyModelsOf(observation)) await reportSkyModels(model, options);
  const outcome = await runLive(observation, {
    version: version(),
    into: options.into,
    say,
    openInput: options.openInput,
    onStart: (source, description, backend) => {
      report.started(source, description, backend);
    },
    onPlan: ({ telescope, spectra }) => {
      bandLines(telescope, bandOfChannels(spectra.frequenciesHz)).forEach(say);
    },
    onEvent: report.event,
    onFile: report.file,
    onResolved: (resolved) => checkBeforehand(resolved, options, say),
    openPage: async (input, settings) => {
      const tokenFile = observation.page?.['token-file'];
      const page = await openRunPage(input, {
        ...settings,
        say,
        onOpen: (open) => {
          const tokenIs = tokenIsFor(options);
          pageLines(open, { tokenFile, tokenOption: 'page.token-file', tokenIs }).forEach(say);
          options.onPage?.(open);
        },
      });
      const machines = await joinMachines(options, page, say);
      const unwatch = watchLosses(input, say);
      return {
        page,
        close: async () => {
          unwatch();
          await machines?.close();
          await page?.close();
        },
      };
    },
  });
  summarise(outcome, report);
  reportOutcome(outcome, say);
}

/** Refuses a page or server that is not available, before anything waits. */
async function checkBeforehand(
  { page, products }: Observation,
  options: MachineOptions,
  say: (line: Line) => void,
): Promise<void> {
  const { address, 'token-file': tokenFile, 'alarm-url': alarmUrl } = page ?? {};
  if (alarmUrl !== undefined) checkAlarmUrl(alarmUrl);
  if (address !== undefined && address !== false) await checkPageAddress(pageAddress(address));
  if (tokenFile !== undefined) await tokenOf(tokenFile);
  const access = await accessOf(options);
  // A server that disconnects later does no harm; one that is absent at the start is probably an error.
  if (access) await (await connectQueue(access, 'corella live')).close();
  for (const product of products)
    if ('visibilities' in product && product.visibilities !== null)
      for (const line of await partialFileLines(product.visibilities)) say(line);
}

const sumOf = (made: readonly VisibilityFacts[], what: 'ruled' | 'values'): number =>
  made.reduce((sum, { flagged }) => sum + flagged[what], 0);

function summarise({ plan, summary, packets, products, stream }: LiveOutcome, report: Report): void {
  const taken = runInterference(
    plan?.frontSettings.kurtosis &&
      plan.kurtosis
        .map(({ plan: tested, tally }) => ({ plan: tested, account: tally.account() }))
        .filter(({ account }) => account.windows > 0),
    plan?.spectra.grid.spectrumRateHz ?? 1,
  );
  const made = products.flatMap(({ name, facts }) =>
    name === 'visibilities' ? [facts as VisibilityFacts] : [],
  );
  const tally = {
    rules: made.at(0)?.flagged.rules ?? 0,
    ruled: sumOf(made, 'ruled'),
    values: sumOf(made, 'values'),
  };
  const corrected = liveVanVleck(
    made.flatMap(({ vanVleck }) => vanVleck ?? []),
    plan?.front.source.bits,
  );
  report.summary(summary, packets, {
    lines: [
      ...(stream?.lines ?? []),
      ...taken.lines,
      ...askedLines(tally),
      ...corrected.lines,
      ...products.flatMap(gainsLinesOf),
    ],
    facts: {
      ...(stream && { stream: stream.facts }),
      ...taken.facts,
      ...(tally.rules > 0 && { flags: { values: tally.values, asked: tally.ruled } }),
      ...corrected.facts,
      ...gainsFactsOf(products),
      ...(plan?.imaging && { imaging: plan.imaging.chosen }),
    },
  });
}
