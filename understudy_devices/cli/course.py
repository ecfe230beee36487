# SPDX-License-Identifier: MIT
"""`understudy course`: assignments for a course, and the grader (docs/course.md)."""

import json
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from understudy_devices.base import scratch
from understudy_devices.base.catalog import unknown
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import plain
from understudy_devices.cli.cluster import with_cluster
from understudy_devices.cli.main import EXIT_FAILED
from understudy_devices.cli.options import UNSAFE
from understudy_devices.cli.progress import bars
from understudy_devices.course import (
    checks,
    files,
    league,
    library,
    many,
    rehearsal,
    repack,
    submission,
)
from understudy_devices.course import export as exporting
from understudy_devices.course import inbox as inboxes
from understudy_devices.course.autograder import HOSTS, autograder
from understudy_devices.course.check import keys
from understudy_devices.course.grade import Grader
from understudy_devices.course.report import gradescope, student
from understudy_devices.course.result import Grade
from understudy_devices.engine import Engine
from understudy_devices.engine.cluster import Cluster, Request
from understudy_devices.engine.local import Local

COURSE = click.option(
    "--course",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The course's folder [default: the current folder, or the nearest one above it].",
)
NO_VM = click.option(
    "--no-vm", is_flag=True, help="Leave out checks that need a VM; their points do not count."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def command() -> None:
    """Assignments for a course in operating systems, and their grader.

    \b
    Example:
      understudy course list
      understudy course new os-course
      understudy course export seek-reduction --to my-work
      understudy course check my-work
      understudy course grade seek-reduction my-work
      understudy course grade-all seek-reduction submissions --out grades
    """


@command.command("list", epilog="Example: understudy course list --json")
@COURSE
@JSON
def list_assignments(folder: Path | None, as_json: bool) -> None:
    """List the assignments, a name a line."""
    found = library.course(folder)
    if as_json:
        listed = [found.assignment(name) for name in found.folders]
        entries = [
            {"name": each.name, "title": each.document.title, "summary": each.document.summary}
            for each in listed
        ]
        click.echo(json.dumps(entries, indent=2))
        return
    for name in found.folders:
        click.echo(plain(name))


@command.command(epilog="Example: understudy course show seek-reduction")
@click.argument("name")
@COURSE
@JSON
def show(name: str, folder: Path | None, as_json: bool) -> None:
    """Check an assignment's specification and text; print its checks and points."""
    found = library.course(folder)
    assignment = found.assignment(name)
    exporting.text(Grader(assignment, found), "")
    if as_json:
        click.echo(json.dumps(assignment.document.model_dump(), indent=2))
        return
    document = assignment.document
    click.echo(plain(f"{document.title}: {document.summary}"))
    click.echo(plain(f"hand in: {', '.join(assignment.files)}"))
    for check in assignment.checks:
        hidden = " (hidden)" if check.hidden else ""
        click.echo(plain(f"{check.points:4} {check.kind:10} {check.name}{hidden}"))
    click.echo(f"{document.points:4} points")


@command.command("try", epilog="Example: understudy course try my-seeks --students 6")
@click.argument("name")
@click.option(
    "--students",
    "count",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Variants to try.",
)
@click.option("--jobs", type=click.IntRange(1, 1000), default=2, help="Gradings at a time.")
@COURSE
@NO_VM
@click.pass_context
def try_assignment(
    context: click.Context, name: str, count: int, jobs: int, folder: Path | None, no_vm: bool
) -> None:
    """Grade the solution and the unchanged starter in several students' variants.

    The solution has to score all points, the starter what assignment.toml says.
    """
    found = library.course(folder)
    grader = Grader(found.assignment(name), found, vms=not no_vm)
    names = rehearsal.students(grader, count)
    with bars(2 * count) as shown:
        wrong = list(rehearsal.mistakes(grader, names, Local(jobs), shown.count))
    for line in wrong:
        click.echo(plain(line))
    if wrong:
        context.exit(EXIT_FAILED)
    click.echo(f"{count} variants: the solution scores all points, the starter as the text says")


@command.command(epilog="Example: understudy course kinds measure")
@click.argument("name", required=False)
def kinds(name: str | None) -> None:
    """List the kinds of check, or the keys of one, for an assignment of your own."""
    known = sorted(checks.ours())
    if name is None:
        for each in known:
            summary = (checks.kind(each, Path()).__doc__ or "").split("\n\n")[0]
            click.echo(f"{each:10} {' '.join(summary.split())}")
        return
    if name not in known:
        raise UserError(unknown("kind", name, known))
    for line in keys(checks.kind(name, Path())):
        click.echo(line)


@command.command(epilog="Example: understudy course new os-course --title 'OS, autumn'")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--title", default="A course", help="The course's title.")
def new(folder: Path, title: str) -> None:
    """Make a course folder: course.toml with a new secret, students.csv, assignments/."""
    library.new(folder, title)
    click.echo(f"wrote {folder}: course.toml, students.csv, assignments/", err=True)


@command.command(epilog="Example: understudy course copy seek-reduction --to assignments/mine")
@click.argument("name")
@click.option("--to", "to", required=True, type=click.Path(path_type=Path), help="A new folder.")
@COURSE
def copy(name: str, to: Path, folder: Path | None) -> None:
    """Copy an assignment, solution included, to change it; for the teacher."""
    found = library.course(folder)
    source = found.assignment(name).folder
    if to.exists():
        raise UserError(f"{to}: already there; name a new folder")
    try:
        shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        raise UserError(f"{to}: {error.strerror or error}: name another folder") from None
    place = found.folder and found.folder / library.ASSIGNMENTS
    then = f"understudy course show {to.name} --course {found.folder} checks it"
    if not place or to.resolve().parent != place.resolve():
        where = place or f"the folder {library.ASSIGNMENTS}/ of a course"
        then = f"an assignment of your own has to be in {where}, under a name of your choice"
    click.echo(f"wrote {to}; {then}", err=True)


@command.command("export", epilog="Example: understudy course export seek-reduction --to my-work")
@click.argument("name")
@click.option("--to", "to", required=True, type=click.Path(path_type=Path), help="A new folder.")
@click.option(
    "--student",
    "name_of",
    default="",
    show_default=False,
    help="Whose variant [default: nobody's].",
)
@click.option(
    "--all",
    "everybody",
    is_flag=True,
    help="A folder in --to for each student of students.csv that has none there yet.",
)
@COURSE
def export(name: str, to: Path, name_of: str, everybody: bool, folder: Path | None) -> None:
    """Write what a student gets: text, starter files, disk and public checks; no solution."""
    found = library.course(folder)
    grader = Grader(found.assignment(name), found)
    if everybody and name_of:
        raise UserError("--all: not with --student; leave one of them out")
    if everybody and not found.students:
        raise UserError("--all: students.csv has no students; add a line for each")
    people = {each: to / files.folder_name(each) for each in found.students} if everybody else {}
    for note in inboxes.not_listed(grader, name_of):
        click.echo(plain(f"note: {note}"), err=True)
    for person, place in (people or {found.spelled(name_of): to}).items():
        whose = plain(f" for {submission.shown(person)}") if person else ""
        if everybody and place.is_dir() and any(place.iterdir()):
            click.echo(f"kept {place}{whose}, which is there", err=True)
            continue
        written = exporting.export(grader, person, place)
        files_written = "" if everybody else f": {', '.join(written)}"
        click.echo(f"wrote {place}{whose}{files_written}", err=True)


@command.command(epilog="Example: understudy course solution seek-reduction --to solved")
@click.argument("name")
@click.option("--to", "to", required=True, type=click.Path(path_type=Path), help="A new folder.")
@click.option(
    "--student",
    "person",
    default="",
    show_default=False,
    help="Whose variant [default: nobody's].",
)
@COURSE
def solution(name: str, to: Path, person: str, folder: Path | None) -> None:
    """Write the solution of a student's variant, answers included; for the teacher."""
    found = library.course(folder)
    grader = Grader(found.assignment(name), found)
    if to.exists():
        raise UserError(f"{to}: already there; name a new folder")
    for note in inboxes.not_listed(grader, person):
        click.echo(plain(f"note: {note}"), err=True)
    for file, content in exporting.solution(grader, person).items():
        files.write(to / file, content.decode("utf-8"))
    click.echo(f"wrote {to}", err=True)


@command.command(epilog="Example: understudy course check my-work")
@click.argument("work", default=".", type=click.Path(path_type=Path))
@NO_VM
@JSON
@UNSAFE
@click.pass_context
def check(context: click.Context, work: Path, no_vm: bool, as_json: bool) -> None:
    """Run the public checks on your own work, as the grader will.

    WORK is the folder that you got from your teacher.
    """
    assignment, person, keys = exporting.student_copy(work)
    course = library.Course(None, "", library.PUBLIC_SECRET)
    grader = Grader(assignment, course, vms=not no_vm, public=True)
    handed_in = grader.read(work)
    mine = submission.Submission(handed_in.files, handed_in.refused)
    graded = grader.grade(person, mine, keys)
    hidden = assignment.document.hidden_points
    last = f"{hidden} more points are in hidden checks, which only your teacher can run"
    _tell(context, graded, as_json, student.LINES, last if hidden and not as_json else "")


@command.command(epilog="Example: understudy course grade seek-reduction my-work --out report")
@click.argument("name")
@click.argument("path", metavar="SUBMISSION", type=click.Path(path_type=Path))
@click.option("--student", "person", help="Whose submission [default: its file's name].")
@click.option(
    "--metadata",
    type=click.Path(path_type=Path),
    help="Gradescope's submission_metadata.json: who hands in, and how often.",
)
@click.option(
    "--by-variant", is_flag=True, help="The student is that of the variant.toml handed in."
)
@click.option("--autolab", is_flag=True, help="Print the scores for Autolab in the last line.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the student's report; the teacher's is in its folder teacher/.",
)
@COURSE
@NO_VM
@JSON
@UNSAFE
@click.pass_context
def grade(
    context: click.Context,
    name: str,
    path: Path,
    person: str | None,
    metadata: Path | None,
    by_variant: bool,
    autolab: bool,
    out: Path | None,
    folder: Path | None,
    no_vm: bool,
    as_json: bool,
) -> None:
    """Grade a submission: a folder, a file or an archive.

    With --out, report.md, report.html and results.json are for the student; hidden checks' lines
    are in the folder teacher/ there.
    """
    found = library.course(folder)
    grader = Grader(found.assignment(name), found, vms=not no_vm)
    handed_in = grader.read(path)
    feedback = grader.assignment.document.feedback
    level: str = feedback.hidden
    shown = student.LINES
    if metadata:
        said = gradescope.metadata(metadata, feedback)
        level = shown = gradescope.level(feedback, said.tries)
    if by_variant:
        person, shown = grader.student_of(path), feedback.hidden
    whose = _owner(grader, person, path, said.student if metadata else None)
    for note in whose.notes:
        click.echo(plain(f"note: {note}"), err=True)
    graded = grader.grade(whose.student, handed_in)
    graded = replace(graded, notes=(*graded.notes, *whose.told))
    if out:
        board = league.board(grader.assignment, graded)
        files.write_grade(graded, out, out / many.TEACHER, level, board)
        click.echo(
            f"wrote {out}: report.md, report.html, results.json for the student, "
            f"{many.TEACHER}/ with the hidden checks for you",
            err=True,
        )
    scores = json.dumps({"scores": {"score": graded.score}, "scoreboard": [graded.score]})
    _tell(context, graded, as_json, shown, scores if autolab else "")


@command.command("grade-all", epilog="Example: understudy course grade-all seek-reduction inbox")
@click.argument("name")
@click.argument("inbox", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--out",
    default="grades",
    type=click.Path(path_type=Path),
    help="Folder for all results; the same folder again grades only what has changed.",
)
@click.option("--again", is_flag=True, help="Grade all anew, also what has not changed.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 1000),
    help="Submissions at a time [default: 2; on a cluster 1 in each task].",
)
@COURSE
@NO_VM
@JSON
@UNSAFE
@with_cluster
@click.pass_context
def grade_all(
    context: click.Context,
    name: str,
    inbox: Path,
    out: Path,
    again: bool,
    jobs: int | None,
    folder: Path | None,
    no_vm: bool,
    as_json: bool,
    cluster: Request | None,
) -> None:
    """Grade a class: FOLDER has a file, a folder or an archive for each student.

    The same command resumes one that was interrupted.  After a correction of the assignment, it
    grades anew what the correction concerns, and prints who gained or lost points.
    """
    found = library.course(folder)
    grader = Grader(found.assignment(name), found, vms=not no_vm)
    require(found)
    submissions = inboxes.read(grader, inbox)
    total = submissions.count
    with many.opened(out), ExitStack() as work:
        engine: Engine = Local(jobs or 2)
        if cluster:
            engine = Cluster(out / "cluster", replace(cluster, jobs=jobs or 1), keeps=not again)
            work.enter_context(engine.until_done())
        kept = f"finished grades are kept in {out}"
        more = " without --again" if again else ""
        words = ", and ".join(filter(None, (engine.notice, kept)))
        scratch.say_if_interrupted(f"{words}; give the same command again{more} to go on")
        with bars(max(1, total)) as shown:
            graded = many.grade_all(grader, submissions, out, engine, shown.count, again=again)
    scratch.say_if_interrupted("")
    if as_json:
        click.echo(
            json.dumps(
                {
                    "grades": [each.as_json() for each in graded.grades],
                    "several": {
                        each: [one.as_json() for one in tries]
                        for each, tries in graded.submissions.items()
                        if len(tries) > 1
                    },
                    "ungraded": dict(graded.inbox.ungraded),
                    "missing": list(graded.inbox.missing),
                    "removed": list(graded.removed),
                    "notes": {each: list(said) for each, said in graded.inbox.notes.items()},
                    "changes": [vars(change) for change in graded.changes],
                },
                indent=1,
            )
        )
    else:
        _tell_class(graded)
    click.echo(f"wrote {out}: {', '.join(graded.written)}, students/, teacher/", err=True)
    if graded.inbox.ungraded or graded.broken:
        context.exit(EXIT_FAILED)


@command.command(
    "autograder",
    epilog="Example: understudy course autograder beat-cats --for gradescope --to upload",
)
@click.argument("name")
@click.option("--for", "host", required=True, type=click.Choice(HOSTS), help="Whose format.")
@click.option("--to", required=True, type=click.Path(path_type=Path), help="A new folder.")
@click.option(
    "--wheel",
    type=click.Path(path_type=Path),
    help="Understudy's wheel, for Gradescope [default: the wheel from which this command was "
    "installed].",
)
@COURSE
def make_autograder(
    name: str, host: str, to: Path, wheel: Path | None, folder: Path | None
) -> None:
    """Write what Gradescope or Autolab needs to run this grader."""
    found = library.course(folder)
    written = autograder(found, found.assignment(name), host, to, wheel)
    if host == "gradescope" and not wheel and not repack.installed():
        click.echo(
            f"note: this Understudy is not installed from a wheel, so setup.sh asks PyPI for "
            f"{repack.NAME}: add --wheel FILE (make wheel builds one) unless it is there",
            err=True,
        )
    if host == "gradescope" and (others := [each for each in found.students if "@" not in each]):
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        click.echo(
            plain(
                f"note: {library.STUDENTS}: {submission.shown(others[0])}{more} without an e-mail "
                "address, by which Gradescope names students: put addresses there before you export"
            ),
            err=True,
        )
    click.echo(f"wrote {to}: {', '.join(written)}", err=True)


def require(course: library.Course) -> None:
    """Raise a UserError if there is no course, in which students have other variants."""
    if course.folder is None:
        raise UserError(
            "no course found: --course FOLDER names it, and understudy course new FOLDER makes one"
        )


def _owner(grader: Grader, person: str | None, path: Path, on_host: str | None) -> inboxes.Owner:
    """Return who has handed in, and remarks about that; `on_host` is whom Gradescope names.

    Without a course, the variant.toml has to say so: an export without a course has one.
    """
    if grader.course.folder is None:
        try:
            student = grader.student_of(path)
            return inboxes.Owner(student, student, proven=True)
        except UserError:
            require(grader.course)
    if person is not None:
        notes = tuple(inboxes.not_listed(grader, person))
        return inboxes.Owner(person, person, proven=False, notes=notes)
    if on_host is not None:
        return inboxes.owner_on_host(grader, path, on_host)
    return inboxes.owner(grader, path)


def _tell(context: click.Context, graded: Grade, as_json: bool, level: str, last: str = "") -> None:
    if as_json:
        click.echo(files.json_text(graded.as_json()), nl=False)
    else:
        for line in _lines(graded, level):
            click.echo(plain(line))
    for each in graded.broken:
        click.echo(plain(f"understudy: the grader failed: {each.name}: {each.lines[0]}"), err=True)
    if last:
        click.echo(last)
    if graded.broken:
        context.exit(EXIT_FAILED)


def _lines(graded: Grade, level: str) -> list[str]:
    """Return the lines to print about a grade."""
    lines = [f"{graded.title}: {student.headline(graded, level)}"]
    lines += [f"note: {note}" for note in graded.notes]
    for line in graded.lines:
        lines.append(f"{student.mark(line, level)} {line.name}: {student.points(line, level)}")
        lines += [f"    {part}" for each in student.words(line, level) for part in each.split("\n")]
        if not line.hidden or level == student.LINES:
            for picture in line.pictures:
                lines.append(f"    {picture.legend}")
                lines += [f"    {part}" for part in picture.text.split("\n")]
    return lines


def _tell_class(graded: many.Graded) -> None:
    for each in graded.grades:
        lost = sum(line.status == "failed" for line in each.lines)
        checks = f", {lost} check{'s' if lost > 1 else ''} not passed" if lost else ""
        name = submission.shown(each.student)
        count = len(graded.submissions[each.student])
        best = f", the best of {count} submissions" if count > 1 else ""
        click.echo(plain(f"{name}: {student.headline(each)}{checks}{best}"))
        for line in (line for one in graded.submissions[each.student] for line in one.broken):
            click.echo(plain(f"{name}: the grader failed: {line.name}: {line.lines[0]}"))
        for note in graded.inbox.notes.get(each.student, ()):
            click.echo(plain(f"{name}: note: {note}"))
    for name, why in graded.inbox.ungraded.items():
        click.echo(plain(f"{submission.shown(name)}: {why}"))
    for name in graded.inbox.missing:
        click.echo(plain(f"{submission.shown(name)}: {many.NOTHING}"))
    for name in graded.removed:
        click.echo(plain(f"{submission.shown(name)}: the submission is gone; its grade is removed"))
    missing, ungraded = len(graded.inbox.missing), len(graded.inbox.ungraded)
    students = len(graded.grades) + missing
    counts = [f"{students} students", f"{graded.new} graded now", f"{graded.kept} as before"]
    counts += [f"{missing} handed in nothing"] if missing else []
    counts += [f"{ungraded} not graded"] if ungraded else []
    click.echo(", ".join(counts))
    for change in graded.changes:
        click.echo(plain(f"changed: {change}"))
