// SPDX-License-Identifier: MIT
import { mount } from "svelte";

import "../style.css";
import Machine from "./Machine.svelte";

mount(Machine, { target: document.getElementById("app")! });
