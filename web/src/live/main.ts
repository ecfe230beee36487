// SPDX-License-Identifier: MIT
import { mount } from "svelte";

import "../style.css";
import Live from "./Live.svelte";

mount(Live, { target: document.getElementById("app")! });
