/** Images from visibilities in C++ (visibilities.cpp), in float64. */
import { imageCPML, weightsCP, type ImageCPML } from '../../../core/axes.js';
import { NULL } from '../../../backend/c-arguments.js';
import type { CpuBackend } from '../../../backend/cpu/cpu.js';
import { inputFactors, shownCorrection, unitFactors } from '../../direct/direct.js';
import { checkIntegrations } from '../../direct/gridded.js';
import type { ImagePlan } from '../../plan.js';
import { sumIntegrations } from '../summed.js';
import type { VisibilityImager } from '../imager.js';

const WHERE = 'image';

export function prepareCpuVisibilityImager(plan: ImagePlan, { native }: CpuBackend): VisibilityImager {
  const { pixels, channels, stations, polarisations, products, kernelSize } = plan;
  const engine = native.open(
    WHERE,
    `int32_t corella_visibility_imager_open(char *error, void *context, int64_t pixels, int64_t channels,
      int64_t stations, int64_t polarisations, int64_t kernelSize,
      const int32_t *corners /*[channels * stations * 2]*/,
      const double *taps /*[channels * stations * kernelSize * kernelSize * 2]*/,
      const double *centre /*[channels * stations * 2]*/, _Out_ void **imager)`,
    ...([pixels, channels, stations, polarisations, kernelSize] as const),
    ...([plan.corners, plan.taps, plan.centre] as const),
  );
  const run = native.bind(
    WHERE,
    `int32_t corella_visibility_imager_run(char *error, void *context, void *imager,
      const double *visibilities, const double *weights, int64_t weightsPerBaseline,
      const uint8_t *flags, const double *factors, int32_t uniform, int32_t autos,
      const double *correction, double *images, double *beams, double *weightSums)`,
  );
  const plane = (given?: ImageCPML): ImageCPML =>
    imageCPML(given ?? new Float64Array(channels * products * pixels ** 2), channels, products, pixels);
  const correction = shownCorrection(plan);
  const weightSums = new Float64Array(channels * products);
  const unit = unitFactors(plan);
  const calibrated = new Float64Array(unit.length);
  return {
    plan,
    image: async (integrations, options = {}, into) => {
      checkIntegrations(plan, integrations);
      const factors = options.gains ? inputFactors(plan, options.gains, options.solved, calibrated) : unit;
      const { visibilities, weights, weightsPerBaseline, flags } = sumIntegrations(integrations);
      const image = plane(into?.image);
      const beam = options.beam === 'leave-out' ? undefined : plane(into?.beam);
      await run(
        ...([engine.address, visibilities, weights, weightsPerBaseline, flags, factors] as const),
        ...([Number(options.weight === 'uniform'), Number(options.autos === 'include')] as const),
        ...([correction, image, beam ?? NULL, weightSums] as const),
      );
      return {
        image,
        ...(beam && { beam }),
        weights: weightsCP(weightSums.slice(), channels, products),
      };
    },
    close: () => engine.close(),
  };
}
