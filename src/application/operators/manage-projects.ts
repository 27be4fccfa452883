import { DEFAULT_SETTINGS, type Project, type ProjectSettings } from '../../domain/access/project.ts';
import type { Account } from '../../domain/billing/account.ts';
import { type Actor, changedFields } from '../../domain/operators/audit-record.ts';
import { auditedProject } from '../../domain/operators/audited.ts';
import { invariant } from '../../domain/shared/invariant.ts';
import { type Money, ZERO } from '../../domain/shared/money.ts';
import type { NewAccount } from '../ports/billing-stores.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { ManagedProject } from '../ports/project-store.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { Rejected } from '../rejected.ts';
import { lockedAccount, lockedProject, projectNamed, recordChange } from './operator-change.ts';

/** A project with its account. */
export interface ProjectOverview {
  readonly project: ManagedProject;
  readonly account: Account;
}

/** A new project; what is left out of the settings has its default. */
export interface NewProject
  extends Pick<Project, 'name' | 'slug' | 'environment'>,
    Omit<NewAccount, 'projectId'> {
  readonly settings: Partial<ProjectSettings>;
}

/** What changes of a project; what is left out stays. */
export interface ProjectChange {
  readonly name?: string;
  readonly settings: Partial<ProjectSettings>;
  /** Null takes the threshold away. */
  readonly spendingThreshold?: Money | null;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/**
 * The projects of the installation, for operators. Each change and its audit record are one transaction. A change takes effect
 * in every process within `SETTINGS_FRESH_MS`.
 */
export class ManageProjects {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Makes a project without keys and credit. Rejects as `slug-taken`. */
  async create(actor: Actor, given: NewProject): Promise<ProjectOverview> {
    const { unitOfWork, clock, ids } = this.#ports;
    const at = clock.now();
    const { name, slug, environment, settings, paymentType, spendingThreshold, trialPhoneNumber } = given;
    const project: ManagedProject = {
      id: ids.hex24(at),
      name,
      slug,
      environment,
      settings: { ...DEFAULT_SETTINGS, ...settings },
      archivedAt: null,
    };
    const terms = { projectId: project.id, paymentType, spendingThreshold, trialPhoneNumber };
    const account: Account = { ...terms, balance: ZERO, held: ZERO, spent: ZERO };
    const change = { id: ids.hex24(at), actor, at };
    try {
      await unitOfWork.run(async (stores) => {
        if (await isTaken(stores, slug)) throw new Rejected({ kind: 'slug-taken' });
        await stores.projects.insert([project]);
        await stores.accounts.insert([terms]);
        const after = auditedProject(project, account);
        await recordChange(stores, change, 'project-created', project.id, { before: null, after });
      });
    } catch (error) {
      // Another operator may have been faster.
      const isLate =
        !(error instanceof Rejected) && (await unitOfWork.read((stores) => isTaken(stores, slug)));
      throw isLate ? new Rejected({ kind: 'slug-taken' }) : error;
    }
    return { project, account };
  }

  /** Up to `limit` projects in the order of their ids, those after `after` when it is given. */
  list(after: string | null, limit: number): Promise<readonly ProjectOverview[]> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const projects = await stores.projects.list(after, limit);
      const accounts = await stores.accounts.byProjectIds(projects.map(({ id }) => id));
      const byId = new Map(accounts.map((account) => [account.projectId, account]));
      return projects.map((project) => overview(project, byId.get(project.id)));
    });
  }

  /** Takes an id or a slug, and rejects as `project-not-found`. */
  find(idOrSlug: string): Promise<ProjectOverview> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const project = await projectNamed(stores, idOrSlug);
      const [account] = await stores.accounts.byProjectIds([project.id]);
      return overview(project, account);
    });
  }

  /** Changes the name, settings and threshold of a project. Nothing is recorded when all of it is as before. */
  change(
    actor: Actor,
    idOrSlug: string,
    { name, settings, spendingThreshold }: ProjectChange,
  ): Promise<ProjectOverview> {
    const change = this.#newChange(actor);
    return this.#ports.unitOfWork.run(async (stores) => {
      const project = await lockedProject(stores, idOrSlug);
      const account = await lockedAccount(stores, project.id);
      const changed: ProjectOverview = {
        project: { ...project, name: name ?? project.name, settings: { ...project.settings, ...settings } },
        account: spendingThreshold === undefined ? account : { ...account, spendingThreshold },
      };
      const fields = changedFields(
        auditedProject(project, account),
        auditedProject(changed.project, changed.account),
      );
      if (Object.keys(fields.after).length === 0) return changed;
      await stores.projects.save([changed.project]);
      if (spendingThreshold !== undefined) {
        await stores.accounts.setSpendingThreshold(project.id, spendingThreshold);
      }
      await recordChange(stores, change, 'project-changed', project.id, fields);
      return changed;
    });
  }

  /**
   * Ends a project: its keys are rejected from then on, and no new one is made. Messages on their way, money and everything
   * stored stay as they are. An archived project stays as it is.
   */
  archive(actor: Actor, idOrSlug: string): Promise<ProjectOverview> {
    const change = this.#newChange(actor);
    return this.#ports.unitOfWork.run(async (stores) => {
      const project = await lockedProject(stores, idOrSlug);
      const [account] = await stores.accounts.byProjectIds([project.id]);
      if (project.archivedAt !== null) return overview(project, account);
      const archived = { ...project, archivedAt: change.at };
      await stores.projects.save([archived]);
      const archivedAt = new Date(change.at).toISOString();
      await recordChange(stores, change, 'project-archived', project.id, {
        before: { archivedAt: null },
        after: { archivedAt },
      });
      return overview(archived, account);
    });
  }

  #newChange(actor: Actor) {
    const at = this.#ports.clock.now();
    return { id: this.#ports.ids.hex24(at), actor, at };
  }
}

async function isTaken({ projects }: Pick<Stores, 'projects'>, slug: string): Promise<boolean> {
  return (await projects.named(slug)) !== null;
}

function overview(project: ManagedProject, account: Account | undefined): ProjectOverview {
  invariant(account !== undefined, 'each project has an account');
  return { project, account };
}
