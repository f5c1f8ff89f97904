"""Test calls for people: answers, pictures, solutions, checks and simulations of runs, kept completions."""

from __future__ import annotations

import pytest
from real_server import TOKEN, Server

from gradus import Client, FailedPreconditionError, InvalidArgumentError, RunConfig, arm, mixture


def test_what_people_ask(guarded: Server) -> None:
    with Client(guarded.address, token=TOKEN) as client:
        task = client.reset("np/clique", level="easy", seed=3)
        tried = client.try_answer(task, answer="[0, 4, 5]")
        assert "[0, 4, 5]" in tried.completion
        assert tried.outcome.reward == -0.5
        assert client.draw_task(task, answer="[0, 4, 5]").startswith("<svg")
        solved = client.solve_task(task, draw=True)
        assert solved.baseline is not None
        assert solved.svg.startswith("<svg")
        assert client.try_answer(task, completion=solved.completion).outcome.solved
        with pytest.raises(FailedPreconditionError):
            client.solve_task(client.reset("np/clique", level="easy", split="bench"))
        with pytest.raises(ValueError, match="not both"):
            client.draw_task(task, answer="1", completion="1")

        checked = client.check_run(file="arm: []")
        assert [(each.line, each.of) for each in checked.problems] == [(1, "arm")]
        config = RunConfig(
            arms=(arm("np/clique", "easy"), arm("math/arithmetic")),
            policy=mixture(),
            num_generations=2,
            prompts_per_update=2,
            length=8,
        )
        assert client.check_run(config).problems == ()
        assert len(client.simulate_run(config, updates=10, points=5).points) == 5

        run = client.run("kept")
        run.create(config.arms, config.policy, num_generations=2, prompts_per_update=2, length=8)
        batch = run.next_batch()
        client.batch_step([each.group(["no idea", "<think></think><answer>[0]</answer>"]) for each in batch.tasks])
        kept = list(run.samples(text="NO IDEA"))
        assert [each.completion for each in kept] == ["no idea"] * 2
        assert kept[0].outcome.grpo_advantage is not None
        assert len(list(run.samples(truncated=False))) == 4
        assert list(run.samples(truncated=True)) == list(run.samples(no_reward_reasons=["too_large"])) == []
        counts = run.violations()
        assert (counts.counted, counts.total.sums.samples, counts.total.violations[0].verdict) == (True, 4, "malformed")
        most = counts.total.violations[0]
        assert len(list(run.samples(verdicts=["malformed"], violation_template=most.template))) == most.count
        drawn = {each.arm_id: each.sums.samples for each in counts.arms}
        (whole,) = run.violations(counts.arms[0].arm_id).arms
        assert (whole.sums.samples, sum(each.sums.samples for each in whole.stretches)) == (drawn[whole.arm_id],) * 2
        with pytest.raises(InvalidArgumentError, match="arm_id: 'chess' is not an arm"):
            run.violations("chess")
        run.delete_samples()
        assert run.violations().total.sums.samples == 0
        assert list(run.samples()) == []

        evaluation = client.evaluation("e")
        evaluation.create("forge-bench")
        assert [each.evaluation_id for each in client.list_evaluations()] == ["e"]
        evaluation.delete()
        assert client.list_evaluations() == []
        assert client.get_server_info().keep_samples_bytes == 1024**2
