import type { FairGate } from '../../../application/concurrency/fair-gate.ts';
import type { Project } from '../../../domain/access/project.ts';
import type { Gate } from './route.ts';

/** Lets requests through by the project that calls. */
export function byProject(gate: Pick<FairGate, 'run'>): Gate<Project> {
  return ({ id }, work) => gate.run(id, work);
}
