/** Gains of a single integration, for callers without a stream of integrations. */
import type { Integration } from '../core/blocks.js';
import {
  runOne,
  prepareCalibrate,
  type CalibratedIntegration,
  type CalibrateSettings,
} from '../stages/index.js';

/** Solves the gains of one integration. */
export async function calibrateIntegration(
  integration: Integration,
  settings: Omit<CalibrateSettings, 'polarisations'>,
): Promise<CalibratedIntegration> {
  const { polarisations } = integration;
  return runOne(await prepareCalibrate({ ...settings, polarisations }), integration);
}
