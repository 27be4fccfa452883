/**
 * The queue takes no jobs for now, and has not confirmed those of this publish. At most it took a few of them in that moment: it
 * reads the others when it takes jobs again, and by then their leases are void.
 */
export class QueueBlocked extends Error {
  constructor(reason: string) {
    super(`The queue takes no jobs: ${reason}`);
    this.name = 'QueueBlocked';
  }
}
