/**
 * What the options of a night say against one another, and what can be told wrong before anything came: packets may come
 * hours later, and nobody sits there then.
 */
import type { Command } from 'commander';
import { realNumber, refuse } from '../../core/errors.js';
import { parseInstant } from '../../core/instant.js';
import { connectQueue } from '../../farm/index.js';
import { checkOutput, readGainFile, visibilityFormatFor } from '../../formats/index.js';
import { isPacketFormatName, packetFormatNamed } from '../../packets/registry.js';
import { imagesIn } from '../../pipeline/live/chain.js';
import { planListening } from '../../receive/index.js';
import { checkPageAddress, tokenOf } from '../../serve/index.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import { refuseGiven } from '../options/command.js';
import { modelElementOf } from '../options/element-option.js';
import { checkFlagWords } from '../options/flags.js';
import { checkPngName } from '../options/outputs.js';
import { parseSources } from '../options/sky-options.js';
import { delayRequest } from '../options/track-options.js';
import { refuseWays } from './input.js';
import { listenSettings, parseEpoch } from './packets.js';
import { accessOfMachine } from './machines.js';
import type { LiveOptions } from './options.js';
import { pageAddress } from './page.js';

/** An integration's length where nobody says. */
export const integrationOf = ({ integration, image }: Pick<LiveOptions, 'integration' | 'image'>): number =>
  integration ?? Math.max(1, image ?? 0);

export async function refuseBeforehand(
  origins: readonly string[],
  options: LiveOptions,
  command: Command,
): Promise<void> {
  if (options.out === undefined && options.image === undefined)
    refuse('live', 'nothing is asked for', 'give -o for visibilities, --image for pictures, or both');
  refuseWays(origins, options);
  refuseIdle(origins, options, command);
  refuseProducts(options);
  if (options.listen !== undefined) refuseListening(options.listen, options);
  if (options.format !== undefined && !isPacketFormatName(options.format)) packetFormatNamed(options.format);
  if (options.epoch !== undefined) parseEpoch(options.epoch);
  if (options.start !== undefined) parseInstant(options.start, '--start');
  await refuseTelescope(options);
  if (options.image !== undefined) {
    checkPngName('--picture', options.picture);
    await checkOutput(options.picture);
    if (options.gains !== undefined) await readGainFile(options.gains);
  }
  await refusePage(options);
}

const ofPage = ['tokenFile', 'pageName', 'minBaseline', 'element', 'diffuse'] as const;

/** Data that do not come in real time have a page where one is asked for. */
export function refuseIdlePage({ page }: LiveOptions, command: Command): void {
  if (page === undefined)
    refuseGiven(command, ofPage, 'is for the page, which a capture or recording has with --page');
}

/** Options that would have no effect. */
function refuseIdle(origins: readonly string[], options: LiveOptions, command: Command): void {
  const idle = (names: readonly (keyof LiveOptions)[], why: string): void => {
    refuseGiven(command, names, why);
  };
  const { from, listen, image, out, page, server } = options;
  if (from !== undefined || listen !== undefined)
    idle(
      ['sampleType', 'inputs', 'start', 'meta'],
      'is for streams of plain samples; packets say it themselves',
    );
  if (listen === undefined) idle(['interface'], 'is by which a group is joined, with --listen');
  if (origins.length > 0) idle(['format', 'epoch'], 'is for packets');
  if (image === undefined)
    idle(
      ['picture', 'direct', 'gains', 'pixels', 'field', 'kernel', 'weight'],
      'is for pictures, of which none are made without --image',
    );
  if (options.direct === true)
    idle(['weight'], 'is for images of visibilities, and --direct makes none of them');
  if (out === undefined && options.direct === true)
    idle(['vanVleck'], 'is for visibilities, and --direct makes none of them');
  if (out === undefined) idle(['values', 'fileEvery'], 'is for files, of which none are written without -o');
  if (page === false) idle(ofPage, 'is for the page, and --no-page leaves it out');
  else if (from !== undefined) refuseIdlePage(options, command);
  if (server === undefined) idle(['night', 'machine'], 'is for several machines, which meet at a --server');
  if (server !== undefined && page === false)
    refuse(
      '--server',
      'is for a night with a page: what is steered is steered through it',
      'leave out --no-page',
    );
}

function refuseProducts(options: LiveOptions): void {
  const { out, image, values, fileEvery, field } = options;
  const integrationS = integrationOf(options);
  if (image !== undefined) imagesIn(integrationS, image);
  if (field !== undefined) realNumber('--field', 'the width in degrees', field, 1e-3, 180);
  if (fileEvery !== undefined && fileEvery < integrationS * (1 - 1e-9))
    refuse(
      '--file-every',
      `${fileEvery} s is shorter than an integration of ${integrationS} s`,
      'give that or more, or a shorter --integration',
    );
  if (out !== undefined) visibilityFormatFor(out, { values, appears: 'first-integration' });
  if (options.sources.includes('@'))
    refuse('--sources', 'places by altitude and azimuth move with the sky', 'give RA and Dec');
  parseSources(options.sources);
}

function refuseListening(listen: string, options: LiveOptions): void {
  const { group } = planListening(listenSettings(listen, options));
  if (!group && options.interface !== undefined)
    refuse(
      '--interface',
      `is by which a group is joined, and ${listen} is none`,
      'leave it out, or listen at the address of that interface, like 10.0.0.2:4015',
    );
}

async function refuseTelescope(options: LiveOptions): Promise<void> {
  const { telescope: name, stations, polarisations, from, listen } = options;
  if (polarisations !== undefined && polarisations > 2)
    refuse('--polarisations', `is ${polarisations}`, 'give 1 or 2');
  if (name === undefined) {
    if (from !== undefined || listen !== undefined)
      refuse(
        '--telescope',
        'is missing: packets do not say where stations stand',
        'name the telescope, or a JSON description of it',
      );
    return;
  }
  const whole = await loadTelescope(name);
  const telescope = stations === undefined ? whole : selectStations(whole, stations);
  if (options.flag !== undefined) checkFlagWords(options.flag, telescope);
  await delayRequest(options, telescope);
  if (options.element !== undefined) await modelElementOf(options, telescope);
}

async function refusePage(options: LiveOptions): Promise<void> {
  const { page, tokenFile } = options;
  if (page !== false && page !== undefined) await checkPageAddress(pageAddress(page));
  if (tokenFile !== undefined) await tokenOf(tokenFile);
  const access = await accessOfMachine(options);
  // A server that goes away later disturbs nothing; one that is not there at all is a slip.
  if (access) await (await connectQueue(access, 'corella live')).close();
}
