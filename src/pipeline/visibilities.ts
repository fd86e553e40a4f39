/** Integrations to disk, whole or not at all. */
import type { Integration } from '../core/blocks.js';
import type { VisibilityWriter } from '../formats/index.js';

/** How many were written. */
export async function writeIntegrations(
  create: () => Promise<VisibilityWriter>,
  integrations: AsyncIterable<Integration>,
  onWritten?: (count: number) => void,
): Promise<number> {
  const writer = await create();
  try {
    let count = 0;
    for await (const integration of integrations) {
      await writer.append(integration);
      count++;
      onWritten?.(count);
    }
    await writer.finish();
    return count;
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}
