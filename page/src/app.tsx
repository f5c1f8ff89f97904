/**
 * Frame around all views: navigation, the caller's name, the state of the connection, and the view that the address
 * selects.
 */
import { Component, type ComponentType } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useRef } from "preact/hooks";
import { type Address, address, hrefOf } from "./address.ts";
import { forgetToken, hasToken, lostSince } from "./connection.ts";
import { caller, mayNot, roleAtLeast } from "./caller.ts";
import { arrive } from "./ui/arrival.ts";
import { TokenDialog } from "./ui/token.tsx";
import { Failure, Heading, NotForRole, Waiting } from "./ui/parts.tsx";
import { clock } from "./words.ts";
import { TasksView } from "./tasks/view.tsx";

interface View {
  readonly name: string;
  readonly title: string;
  readonly Shown: ComponentType;
  readonly role?: "viewer" | "trainer";
  /**
   * Number of path parts on which the view's content depends. If only later parts change, the loaded content stays.
   * Defaults to all parts.
   */
  readonly parts?: number;
}

const views: readonly View[] = [
  { name: "tasks", title: "Tasks", Shown: TasksView },
  { name: "runs", title: "Runs", Shown: lazy(async () => (await import("./runs/view.tsx")).RunsView), parts: 2 },
  {
    name: "evaluations",
    title: "Evaluations",
    Shown: lazy(async () => (await import("./evaluations/view.tsx")).EvaluationsView),
  },
  { name: "plan", title: "Plan", Shown: lazy(async () => (await import("./plan/view.tsx")).PlanView), role: "trainer" },
  { name: "server", title: "Server", Shown: lazy(async () => (await import("./server/view.tsx")).ServerView) },
];

export function App() {
  const { path } = address.value;
  const view = views.find(({ name }) => name === (path[0] ?? "tasks"));
  const place = path.join("/");
  const main = useRef<HTMLElement>(null);
  const moved = useRef(false);
  useEffect(() => {
    document.title = `${[...path].reverse().join(" · ") || "Tasks"} · Gradus`;
    if (moved.current) arrive(main.current);
    moved.current = true;
  }, [place]);
  return (
    <div class="frame">
      <Rail current={view?.name} onSkip={() => main.current?.focus()} />
      <div>
        <Lost />
        <main ref={main} tabIndex={-1}>
          <Guard key={path.slice(0, view?.parts).join("/")}>
            <Suspense fallback={<Waiting />}>
              <Shown view={view} />
            </Suspense>
          </Guard>
        </main>
      </div>
      <TokenDialog />
    </div>
  );
}

function Shown({ view }: { readonly view: View | undefined }) {
  if (view === undefined) return <Nowhere />;
  if (view.role === undefined || roleAtLeast(view.role)) return <view.Shown />;
  if (!mayNot(view.role)) return <Waiting />;
  return (
    <>
      <Heading title={view.title} />
      <NotForRole role={view.role} what="This view is" />
    </>
  );
}

interface RailProps {
  readonly current: string | undefined;
  /** Moves the keyboard focus past the navigation to the content. */
  readonly onSkip: () => void;
}

function Rail({ current, onSkip }: RailProps) {
  const skip = (event: Event) => {
    event.preventDefault();
    onSkip();
  };
  const shown = views.filter(({ role }) => role === undefined || roleAtLeast(role));
  return (
    <header class="rail">
      <a class="skip" href={location.hash} onClick={skip}>
        Skip to the content
      </a>
      <a class="brand" href={hrefOf(["tasks"])}>
        <Mark /> Gradus
      </a>
      <nav aria-label="Views">
        <ul>
          {shown.map(({ name, title }) => (
            <li key={name}>
              <a href={hrefOf([name])} aria-current={name === current ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Who />
    </header>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <path fill="var(--best)" d="M3 23h8v6H3z" />
      <path fill="#3aa6a0" d="M12 14h8v15h-8z" />
      <path fill="#d9983a" d="M21 4h8v25h-8z" />
    </svg>
  );
}

function Who() {
  const { name, role } = caller.value;
  if (!hasToken.value && name === "") return null;
  return (
    <div class="who">
      {name === "" ? "a token" : name}
      {role !== "" && `, ${role}`}
      {hasToken.value && (
        <div>
          <button type="button" class="quiet" onClick={forgetToken}>
            Forget the token
          </button>
        </div>
      )}
    </div>
  );
}

function Lost() {
  const since = lostSince.value;
  return (
    <div role="status">
      {since !== undefined && (
        <p class="lost">Not live since {clock(since)}: the server does not answer. The page comes back with it.</p>
      )}
    </div>
  );
}

function Nowhere() {
  return (
    <>
      <h1>Nothing is here</h1>
      <p>
        The address names no view. Begin with the <a href={hrefOf(["tasks"])}>tasks</a>.
      </p>
    </>
  );
}

interface Fault {
  readonly error: Error;
  /** Address at which the error occurred. The error disappears at another address. */
  readonly at: Address;
}

/** If a view throws an error, shows the error in place of the view. Navigation keeps working. */
class Guard extends Component<object, { readonly fault: Fault | undefined }> {
  override state: { readonly fault: Fault | undefined } = { fault: undefined };

  static override getDerivedStateFromError(thrown: unknown) {
    return { fault: { error: thrown instanceof Error ? thrown : new Error(String(thrown)), at: address.peek() } };
  }

  override render() {
    const { fault } = this.state;
    if (fault === undefined || fault.at !== address.value) return this.props.children;
    return <Failure error={fault.error} again={() => this.setState({ fault: undefined })} />;
  }
}
