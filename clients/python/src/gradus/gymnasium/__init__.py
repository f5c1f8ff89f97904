"""Gymnasium: `TextEnv` and `TextVectorEnv`, whose observations are prompts and whose actions are completions.

```python
import gymnasium as gym

env = gym.make("gradus.gymnasium:Gradus/Text-v0", environment="countdown", level="T0")
prompt, info = env.reset(seed=7)
_, reward, terminated, truncated, info = env.step("<think>97 - 44 is 53</think><answer>82 - (97 - 44)</answer>")
```

An episode is one prompt and one completion, or several if the task has turns. The tasks are those of a family, one for
each seed, or those of a run. An action may be a `WrittenText`, which says why generation ended: if it was cut, an
answer counts only if it is complete.
"""

from __future__ import annotations

import gymnasium as gym

from gradus.gymnasium._env import TextEnv
from gradus.gymnasium._spaces import AnyText, WrittenText
from gradus.gymnasium._vector_env import TextVectorEnv

__all__ = ["AnyText", "TextEnv", "TextVectorEnv", "WrittenText"]

gym.register("Gradus/Text-v0", entry_point=TextEnv, vector_entry_point=TextVectorEnv)
