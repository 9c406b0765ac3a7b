/** Runs the inbox: keys, answers of the service and the clock go into the machine; what it wants is done. */
import { onInterrupt, printError } from '../io/output.ts';
import { STATUS, type Status, reportOf } from '../status.ts';
import type { Actions } from './actions.ts';
import { editText, editorText } from './edit.ts';
import { frame } from './frame.ts';
import { Screen, type Terminal } from './screen.ts';
import { type Effect, type Event, type State, firstState } from './state.ts';
import { step } from './step.ts';

/** Gives the terminal to something else for a while. */
export type Aside = <T>(work: () => Promise<T>) => Promise<T>;

const POLL_MS = 1_000;
const SLOW_MS = 3_000;
const SLOW = 'the service has not answered for 3 seconds. It is asked on.';

/** Resolves when the person quits. The terminal is as it was by then, and also when the process ends in any other way. */
export async function runInbox(
  actionsWith: (aside: Aside) => Actions,
  terminal: Terminal,
  { color }: { color: boolean },
): Promise<Status> {
  const inbox = new Inbox(actionsWith, terminal, color);
  const { screen } = inbox;
  const leave = (): void => screen.leave();
  const crash = (error: unknown): void => {
    leave();
    printError(reportOf(error), false);
    process.exit(STATUS.internal);
  };
  const onSignal = (_: NodeJS.Signals, number: number): void => {
    leave();
    process.exit(128 + number);
  };
  const resized = (): void => inbox.dispatch({ on: 'resized', size: screen.size });
  const continued = (): void => inbox.resume();
  const hungUp = (): void => inbox.quit(STATUS.done);
  const forget = onInterrupt(leave);
  process.on('exit', leave).on('uncaughtException', crash).on('unhandledRejection', crash);
  process.on('SIGTERM', onSignal).on('SIGHUP', onSignal).on('SIGQUIT', onSignal).on('SIGCONT', continued);
  terminal.output.on('resize', resized);
  terminal.input.on('end', hungUp);
  try {
    return await inbox.run();
  } finally {
    leave();
    forget();
    process.off('exit', leave).off('uncaughtException', crash).off('unhandledRejection', crash);
    process.off('SIGTERM', onSignal).off('SIGHUP', onSignal).off('SIGQUIT', onSignal).off('SIGCONT', continued);
    terminal.output.off('resize', resized);
    terminal.input.off('end', hungUp);
  }
}

class Inbox {
  readonly screen: Screen;
  readonly #actions: Actions;
  readonly #color: boolean;
  readonly #over = Promise.withResolvers<Status>();
  #state: State;
  #wake: (() => void) | undefined;
  #running = true;
  #away = false;

  constructor(actionsWith: (aside: Aside) => Actions, terminal: Terminal, color: boolean) {
    this.#actions = actionsWith((work) => this.#aside(work));
    this.#color = color;
    this.screen = new Screen(terminal, (key) => this.dispatch({ on: 'key', key }));
    this.#state = firstState(this.screen.size, { grants: this.#actions.grant !== undefined });
  }

  run(): Promise<Status> {
    this.screen.enter();
    this.#draw();
    void this.#poll();
    return this.#over.promise;
  }

  quit(status: Status): void {
    this.#running = false;
    this.screen.leave();
    this.#wake?.();
    this.#over.resolve(status);
  }

  resume(): void {
    if (!this.#running || this.#away) return;
    this.screen.leave();
    this.screen.enter();
    this.dispatch({ on: 'resized', size: this.screen.size });
  }

  dispatch(event: Event): void {
    if (!this.#running) return;
    const [state, effect] = step(this.#state, event);
    this.#state = state;
    if (effect) this.#do(effect);
    this.#draw();
  }

  #draw(): void {
    if (this.#running && !this.#away) this.screen.draw(frame(this.#state, { color: this.#color, now: Date.now() }));
  }

  #do(effect: Effect): void {
    switch (effect.do) {
      case 'refresh':
        return this.#wake?.();
      case 'repaint':
        return this.screen.forget();
      case 'suspend':
        this.screen.leave();
        // The whole job stops, as with Ctrl-Z anywhere else; SIGCONT brings the screen back.
        process.kill(0, 'SIGTSTP');
        return;
      case 'quit':
        return this.quit(effect.interrupted ? STATUS.interrupted : STATUS.done);
      case 'open':
      case 'approve':
      case 'deny':
      case 'grant':
      case 'edit':
        void this.#ask(effect).then(
          (event) => this.dispatch(event),
          (error: unknown) => this.dispatch(failure(effect, reportOf(error).message)),
        );
    }
  }

  async #ask(effect: Extract<Effect, { do: 'open' | 'approve' | 'deny' | 'grant' | 'edit' }>): Promise<Event> {
    switch (effect.do) {
      case 'open':
        return { on: 'opened', shown: await this.#actions.open(effect.id) };
      case 'approve':
        return {
          on: 'answered',
          shown: effect.shown,
          decision: 'approve',
          answer: await this.#actions.approve(effect.shown, effect.arguments),
        };
      case 'deny':
        return {
          on: 'answered',
          shown: effect.shown,
          decision: 'deny',
          answer: await this.#actions.deny(effect.shown, effect.reason),
        };
      case 'grant': {
        if (!this.#actions.grant) throw new TypeError('this service takes no grants');
        return { on: 'granted', shown: effect.shown, until: await this.#actions.grant(effect.shown, effect.forMs) };
      }
      case 'edit': {
        const { shown } = effect;
        return {
          on: 'edited',
          shown,
          text: await this.#aside(() => editText(shown.draft ?? editorText(shown.open.arguments))),
        };
      }
    }
  }

  async #aside<T>(work: () => Promise<T>): Promise<T> {
    this.#away = true;
    this.screen.leave();
    try {
      return await work();
    } finally {
      this.#away = false;
      if (this.#running) this.screen.enter();
      // The window may have another size by now.
      this.dispatch({ on: 'resized', size: this.screen.size });
    }
  }

  /** The listing, again and again: each second, and at once when something was decided. */
  async #poll(): Promise<void> {
    while (this.#running) {
      // The connection tries for a long while before it gives up; the person should know before that.
      const slow = setTimeout(() => this.dispatch({ on: 'unlisted', problem: SLOW }), SLOW_MS);
      try {
        this.dispatch({ on: 'listed', ...(await this.#actions.list()) });
      } catch (error) {
        this.dispatch({ on: 'unlisted', problem: reportOf(error).message });
      } finally {
        clearTimeout(slow);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

const failure = (effect: Effect, problem: string): Event =>
  effect.do === 'open' ? { on: 'not_opened', id: effect.id, problem } : { on: 'failed', problem };
