/** Gains solved during an observation are one of its products: every solution is written next to the others. */
import { join, parse } from 'node:path';
import { productName, type Product } from '../products/index.js';
import type { Observation } from './schema.js';

/** Integrations summed for a solution; at most a tenth of `every`, to limit the effect of a partial one. */
const INTEGRATION_S = 1;

/** The observation with a product for its solved gains: first, so that a solution exists before it is needed. */
export function withSolvedGains(observation: Observation): Observation {
  const { gains, products } = observation;
  if (gains?.solve === undefined) return observation;
  const { solve, every, element, diffuse, 'min-baseline': least } = gains;
  const beside = products
    .map((one) => (one as Readonly<Record<string, unknown>>)[productName(one)])
    .find((path) => typeof path === 'string');
  const solved: Product<'gains'> = {
    gains: beside === undefined ? null : besideOf(beside),
    sources: solve,
    integration: Math.min(INTEGRATION_S, (every ?? Infinity) / 10),
    align: 'utc',
    ...(every !== undefined && { every }),
    element,
    diffuse,
    ...(least !== undefined && { 'min-baseline': least }),
  };
  return { ...observation, products: [solved, ...products] };
}

const besideOf = (path: string): string => {
  const { dir, name } = parse(path);
  return join(dir, `${name}-gains.json`);
};
