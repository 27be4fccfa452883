import { FairGate } from '../../../application/concurrency/fair-gate.ts';
import type { Project } from '../../../domain/access/project.ts';
import { LIST_READS_MAX, LIST_READS_PER_PROJECT_MAX } from '../limits.ts';
import type { Gate } from './route.ts';

/** Lets requests through by the project that calls. */
export function byProject(gate: Pick<FairGate, 'run'>): Gate<Project> {
  return ({ id }, work) => gate.run(id, work);
}

/**
 * The list gate: lets a few reads of long lists work at a time, round-robin over the projects. What they read is parsed and
 * presented on the event loop, all that has come in one round of it.
 */
export function listGate(): Gate<Project> {
  return byProject(new FairGate({ perKey: LIST_READS_PER_PROJECT_MAX, all: LIST_READS_MAX }));
}
