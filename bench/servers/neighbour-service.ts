import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { serve } from '../../test/support/child-process.ts';
import { startLoadService } from '../../test/support/load-service.ts';
import { NEIGHBOUR, neighbourSeed } from '../neighbours/seed.ts';

/** The service, which notes when it first submits each message of the neighbour. */
const seed = neighbourSeed();
const neighbourId = readSeed(seed).projects.find(({ project }) => project.name === NEIGHBOUR.name)?.project
  .id;
const triedAt: Record<string, number> = {};

const { service, port } = await startLoadService({
  seed,
  onSubmission: ({ projectId, smsId }) => {
    if (projectId === neighbourId) triedAt[smsId] ??= Date.now();
  },
});

const handlers = {
  /** When each message of the neighbour was first submitted, in milliseconds since 1970, by smsId. */
  triedAt: (): Readonly<Record<string, number>> => triedAt,
  /** What all threads of this process took of the processor, in milliseconds. */
  processorMs: (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};
export type NeighbourServiceHandlers = typeof handlers;

serve(port, handlers);
process.on('SIGTERM', () => service.stop().then(() => process.disconnect()));
